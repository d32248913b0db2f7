/** A server that takes the login of one of Pi's providers, in a real Pi, which renews that login when it has expired. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { Workspace } from "../cli/pimcp.ts";
import { startHere } from "../servers/here.ts";
import { type Answer, runPi, textOf } from "./pi.ts";

const LOGIN = join(import.meta.dirname, "login-extension.mjs");

async function made() {
  const state = { token: "" };
  const server = await startHere({
    before: (request, response) => {
      if (request.headers.authorization === `Bearer ${state.token}`) return false;
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      return true;
    },
  });
  const workspace = new Workspace();
  const entry = { url: server.url, auth: { provider: "acme" }, exposure: "direct" };
  workspace.write("agent/mcp.json", { mcpServers: { rad: entry } });
  const login = (access: string, expires: number) =>
    workspace.write("agent/auth.json", { acme: { type: "oauth", access, refresh: "r", expires } });
  return { server, state, workspace, login };
}

test("compiled with what Pi stored, called with what Pi renewed", { timeout: 120_000 }, async () => {
  const { state, workspace, login } = await made();
  state.token = "canary-t0ken-1";
  login(state.token, Date.now() + 60_000);
  expect(await workspace.compile("--scope", "user")).toMatchObject({ code: 0 });
  login(state.token, 1000);
  state.token = "canary-t0ken-2";
  const answers: Answer[] = [{ call: ["mcp__rad__add", { a: 1, b: 2 }] }, { text: "done" }];
  const pi = await runPi(workspace, { answers, extensions: [LOGIN] });
  expect(pi.ended.map(textOf)).toEqual(["3"]);
  expect(JSON.parse(workspace.read("agent/auth.json"))).toMatchObject({ acme: { access: "canary-t0ken-2" } });
  expect(pi.stdout + pi.stderr).not.toContain("canary-t0ken");
});

test("a login that Pi doesn't have fails the call, with Pi's remedy", { timeout: 120_000 }, async () => {
  const { state, workspace, login } = await made();
  state.token = "canary-t0ken-1";
  login(state.token, Date.now() + 60_000);
  await workspace.compile("--scope", "user");
  workspace.write("agent/auth.json", {});
  const answers: Answer[] = [{ call: ["mcp__rad__add", { a: 1, b: 2 }] }, { text: "done" }];
  const pi = await runPi(workspace, { answers, extensions: [LOGIN] });
  expect(pi.ended[0]).toMatchObject({ isError: true });
  expect(textOf(pi.ended[0])).toContain("pi auth login acme");
});
