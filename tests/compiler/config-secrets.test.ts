// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${VAR} is the notation of the files under test.
import { describe, expect, test } from "vitest";
import { layered, lines, names } from "./config-layering.ts";

describe("secrets written out in a project's file", () => {
  const secret = "hunter2hunter2hunter2";
  const rows: [object, string[]][] = [
    [
      {
        command: "x",
        env: { GITHUB_TOKEN: secret, MAX_TOKENS: "400", TOKEN_FILE: "./t", TOKEN: "${TOKEN}", PASSWORD: "!pass x" },
      },
      ["env.GITHUB_TOKEN"],
    ],
    [
      {
        command: "x",
        env: { MY_SECRET: `\${MY_SECRET:-${secret}}`, A: `sk-${secret}`, DB: `postgres://me:${secret}@db/x` },
      },
      ["env.MY_SECRET", "env.A", "env.DB"],
    ],
    [
      {
        command: "x",
        args: [
          "--api-key",
          secret,
          `--token=${secret}`,
          `Authorization: Bearer ${secret}`,
          "--header=Authorization: Bearer ${T}",
          "token-server:1.2",
          "--token",
          "${T}",
        ],
      },
      ["args[1]", "args[2]", "args[3]"],
    ],
    [{ url: `https://x.test/mcp?api_key=${secret}` }, ["url"]],
    [{ url: "https://x.test/mcp?api_key=${K}&q=1" }, []],
    [
      {
        url: "https://x.test",
        headers: { Authorization: `Bearer ${secret}`, "X-Api-Key": secret, Accept: "text/plain" },
      },
      ["headers.Authorization", "headers.X-Api-Key"],
    ],
    [{ url: "https://x.test", headers: { Authorization: "Bearer ${T}" } }, []],
    [{ url: "https://x.test", oauth: { clientSecret: secret } }, ["oauth.clientSecret"]],
  ];
  test.each(rows)("%j", (server, fields) => {
    const { diagnostics, value } = layered({ "mcp.json": { mcpServers: { s: server } } });
    expect(
      lines(diagnostics).map((line) => /warning: (\S+) looks like a secret .*\[literal-secret\]$/.exec(line)?.[1]),
    ).toEqual(fields);
    expect(JSON.stringify(diagnostics)).not.toContain("hunter2");
    for (const { notes } of diagnostics) expect(notes[0]).toMatch(/^write \$\{\w+\} and set that variable/);
    expect(names(value)).toEqual(["s"]);
    expect(layered({ user: { mcpServers: { s: server } } }).diagnostics).toEqual([]);
  });

  test("no mistake around a secret prints it", () => {
    const texts = [
      `{"command":"x","env":{"T":["${secret}"]}}`,
      `{"url":"ftp://u:${secret}@x"}`,
      `{"url":"https://x.test","oauth":{"clientSecret":{"a":"${secret}"}}}`,
      `{"command":"x","args":[{"k":"${secret}"}]}`,
    ];
    for (const text of texts) {
      const { diagnostics } = layered({ "mcp.json": `{"mcpServers":{"s":${text}}}` });
      expect(diagnostics.some((one) => one.severity === "error")).toBe(true);
      expect(JSON.stringify(diagnostics)).not.toContain("hunter2");
    }
  });
});
