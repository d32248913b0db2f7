/** Certificates: an authority of one's own by `caFile`, and what is said where it is missing, wrong or not to be read. */
import { execFile } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { type OpenOutcome, openConnection } from "../../runtime/connect/open.ts";
import { scratchFolder } from "../scratch.ts";
import { caFile, startHere, tlsFixtures } from "../servers/here.ts";
import { serverConfig, surroundings } from "../servers/run.ts";

async function opened(url: string, ca?: string, baseDir?: string, env?: NodeJS.ProcessEnv): Promise<OpenOutcome> {
  const transport = { kind: "http", url, headers: {}, ...(ca !== undefined && { caFile: ca }) } as const;
  const config = serverConfig(transport, baseDir === undefined ? {} : { baseDir });
  const outcome = await openConnection(config, { ...surroundings, ...(env && { env }) });
  if (outcome.ok) onTestFinished(() => outcome.connection.close());
  return outcome;
}

function found(outcome: OpenOutcome) {
  if (outcome.ok) throw new Error("connected");
  return outcome.diagnostic;
}

test("a server whose authority is named is reached", async () => {
  const server = await startHere({ https: true });
  const outcome = await opened(server.url, caFile);
  expect(outcome.ok && (await outcome.connection.request("tools/list"))).toMatchObject({ ok: true });
});

test("without it the server is not, and the remedy is", async () => {
  const server = await startHere({ https: true });
  const { code, message, notes } = found(await opened(server.url));
  expect(code).toBe("server-unavailable");
  expect(message).toMatch(/UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT_LOCALLY/);
  expect(notes).toEqual([expect.stringContaining('"caFile"')]);
  expect(server.seen).toEqual([]);
});

/** Node reads the variable when it starts, so it takes a process of its own. */
test("what NODE_EXTRA_CA_CERTS adds is trusted beside it", async () => {
  const server = await startHere({ https: true });
  const dist = pathToFileURL(`${process.env["PIMCP_DIST"] ?? join(import.meta.dirname, "../../dist")}/`);
  const script = `
    const { networkFetch } = await import(${JSON.stringify(new URL("runtime/connect/network-fetch.js", dist).href)});
    const { readFileSync } = await import("node:fs");
    const ca = readFileSync(${JSON.stringify(join(tlsFixtures, "server.pem"))}, "utf8");
    const answer = await networkFetch({ env: {}, ca })(${JSON.stringify(server.url)}, { method: "POST", body: "{}" })
      .then((response) => response.status, (error) => error.cause.code);
    console.log(answer);
    process.exit();`;
  const answerWith = (file: string) => {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: file };
    const args = ["--no-warnings", "--input-type=module", "--eval", script];
    return promisify(execFile)(process.execPath, args, { env }).then(({ stdout }) => stdout.trim());
  };
  expect(await answerWith(caFile)).toMatch(/^\d+$/);
  expect(await answerWith(join(tlsFixtures, "missing.pem"))).toMatch(/^UNABLE_TO/);
});

test("another authority doesn't help, nor does a name that the certificate has not", async () => {
  const server = await startHere({ https: true });
  expect(found(await opened(server.url, join(tlsFixtures, "server.pem"))).message).toMatch(/UNABLE_TO/);
  const byName = server.url.replace("127.0.0.1", "ip6-localhost.localhost");
  expect(found(await opened(byName, caFile)).code).toBe("server-unavailable");
});

test("the file is looked for where a cwd would be, its name expanded", async () => {
  const server = await startHere({ https: true });
  const folder = scratchFolder();
  copyFileSync(caFile, join(folder, "own-ca.pem"));
  const env = { ...process.env, CA_NAME: "own-ca" };
  for (const name of ["own-ca.pem", "./own-ca.pem", "${CA_NAME}.pem"]) {
    expect((await opened(server.url, name, folder, env)).ok).toBe(true);
  }
});

test.each<[string, string | undefined, string]>([
  ["is missing", undefined, "doesn't exist"],
  ["is empty", "", "holds no certificate in PEM"],
  ["is a key", readFileSync(join(tlsFixtures, "server-key.pem"), "utf8"), "holds no certificate in PEM"],
  [
    "is broken",
    readFileSync(caFile, "utf8").replace(/\n\w{8}/, "\nAAAAAAAA"),
    "holds a certificate that is none, the 1. of 1",
  ],
  [
    "is partly broken",
    `${readFileSync(caFile, "utf8")}\n-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----`,
    "holds a certificate that is none, the 2. of 2",
  ],
])("a file that %s fails the server at its place", async (_, content, want) => {
  const folder = scratchFolder();
  if (content !== undefined) writeFileSync(join(folder, "ca.pem"), content);
  const diagnostic = found(await opened("https://127.0.0.1:1/mcp", "ca.pem", folder));
  expect(diagnostic).toMatchObject({ code: "unusable-ca-file", file: "mcp.json", line: 3 });
  expect(diagnostic.message).toContain(`the file in caFile, "ca.pem", ${want}`);
  expect(diagnostic.message).not.toContain(folder);
});
