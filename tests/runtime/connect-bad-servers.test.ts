/** Servers that answer nobody, or say far too much: they end with a finding, or are simply lived with. */
import { expect, test } from "vitest";
import { failureOf } from "../../runtime/connect/failure.ts";
import { openConnection } from "../../runtime/connect/open.ts";
import { StdioTransport } from "../../runtime/connect/stdio.ts";
import { countProcesses, stub, surroundings } from "../servers/run.ts";

test.each([["legacy"], ["modern"]])(
  "%s: one whose answers all carry a wrong id ends at the limit, and leaves no process",
  async (era) => {
    // A modern one is known by its probe, which takes any answer; then its list is what never comes.
    const { config, marker } = stub({ era, wrongId: 4711 }, { requestTimeoutMs: 600 });
    const opened = await openConnection(config, surroundings);
    if (opened.ok) {
      const outcome = await opened.connection.request("tools/list");
      expect(outcome).toMatchObject({ ok: false, failure: { kind: "timeout" } });
      expect(opened.connection.noise()?.message).toContain("to nothing that was asked");
      await opened.connection.close();
    } else expect(opened.diagnostic.code).toBe("server-timeout");
    expect(opened.ok).toBe(era === "modern");
    expect(countProcesses(marker)).toBe(0);
  },
);

test.each([["legacy"], ["modern"]])(
  "%s: a flood of notices, known and unknown, delays nothing and is no noise",
  async (era) => {
    const notices = ["notifications/unknown", "notifications/tools/list_changed", "notifications/message"];
    const noise = Array.from({ length: 1500 }, (_, n) => `{"jsonrpc":"2.0","method":"${notices[n % 3]}"}`);
    const { config, marker } = stub({ era, noise });
    const opened = await openConnection(config, surroundings);
    if (!opened.ok) throw new Error(opened.diagnostic.message);
    const { connection } = opened;
    const heard = new Map<string, number>();
    connection.onNotification((method) => heard.set(method, (heard.get(method) ?? 0) + 1));
    for (const n of [1, 2, 3]) {
      const outcome = await connection.request("tools/call", { name: "echo", arguments: { n } });
      expect(outcome).toMatchObject({ ok: true, result: { content: [{ text: `{"n":${n}}` }] } });
    }
    expect([...heard.keys()].sort()).toEqual([...notices].sort());
    for (const count of heard.values()) expect(count).toBeGreaterThanOrEqual(1000);
    expect(connection.noise()).toBeUndefined();
    await connection.close();
    expect(countProcesses(marker)).toBe(0);
  },
);

test("one that ended before it was asked is told as ended, not as one that answers badly", async () => {
  const env = { PATH: process.env["PATH"]! };
  const server = { kind: "stdio" as const, command: process.execPath, args: ["-e", "process.exit(3)"], cwd: "/", env };
  const transport = new StdioTransport({ ...server, secrets: [], credentials: [] });
  const ended = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  await transport.start();
  await ended;
  const error = await transport.send({ jsonrpc: "2.0", method: "x" }).catch((thrown: unknown) => thrown);
  expect(failureOf(error, { secrets: [], sdk: undefined }).kind).toBe("closed");
  expect(error).toMatchObject({ code: "EPIPE" });
  expect(transport.ending).toBe("exited with status 3");
});
