import { expect, test } from "vitest";
import { knock } from "../../runtime/connect/auth/knock.ts";

const url = new URL("https://mcp.example/mcp");

/** Answers by method, and by `modern ` and method where the request is in the form of 2026-07-28. */
function serverOf(answers: Readonly<Record<string, () => Response>>) {
  const asked: string[] = [];
  const fetch = async (_: string | URL, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    const body = JSON.parse(String(init.body ?? "{}")) as { method?: string; params?: { _meta?: object } };
    const isModern = headers.get("mcp-protocol-version") === "2026-07-28" && body.params?._meta !== undefined;
    const what = `${isModern ? "modern " : ""}${body.method ?? init.method}`;
    asked.push([what, headers.get("mcp-session-id")].filter((part) => part !== null).join(" in "));
    return answers[what]?.() ?? new Response("no", { status: 404 });
  };
  return { asked, fetch };
}

const ok = () => new Response("{}");
const refused = (status: number) => () => new Response(`refused with ${status}`, { status });
const session = () => new Response("{}", { headers: { "mcp-session-id": "s1" } });

const rows: [what: string, answers: Record<string, () => Response>, asked: string[], want: object][] = [
  [
    "a server of 2025 is greeted and asked for its tools, and its session ended",
    { initialize: session, "tools/list": ok, DELETE: ok },
    ["initialize", "tools/list in s1", "DELETE in s1"],
    { status: 200, text: "" },
  ],
  [
    "one that has no tools is as good",
    { initialize: ok, "tools/list": refused(400) },
    ["initialize", "tools/list"],
    { status: 200, text: "" },
  ],
  [
    "one that refuses its tools is heard",
    { initialize: ok, "tools/list": refused(403) },
    ["initialize", "tools/list"],
    { status: 403, text: "refused with 403" },
  ],
  [
    "a server of 2026 alone is asked again in its own form",
    { initialize: refused(400), "modern tools/list": ok },
    ["initialize", "modern tools/list"],
    { status: 200, text: "" },
  ],
  [
    "what is no server of either era keeps its first answer",
    { initialize: refused(410) },
    ["initialize", "modern tools/list"],
    { status: 410, text: "refused with 410" },
  ],
];
test.each(rows)("%s", async (_, answers, asked, want) => {
  const server = serverOf(answers);
  expect(await knock(server.fetch, url, undefined)).toEqual(want);
  expect(server.asked).toEqual(asked);
});
