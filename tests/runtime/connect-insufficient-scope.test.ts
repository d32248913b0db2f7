import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openConnection } from "../../runtime/connect/open.ts";
import { serverConfig, surroundings } from "../servers/run.ts";

test("a 403 that names the missing permission is a refusal, in the server's words", async () => {
  const challenge = 'Bearer error="insufficient_scope", scope="admin"';
  const http = createServer((request, response) => {
    request.resume();
    response.writeHead(403, { "www-authenticate": challenge }).end();
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void http.close());
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const headers = { Authorization: "Bearer s3cret-token" };
  const outcome = await openConnection(serverConfig({ kind: "http", url, headers }), surroundings);
  if (outcome.ok) await outcome.connection.close();
  expect(!outcome.ok && outcome.diagnostic).toMatchObject({
    code: "access-denied",
    message: 'server "s": access was denied (HTTP 403: Insufficient scope: required "admin")',
  });
});
