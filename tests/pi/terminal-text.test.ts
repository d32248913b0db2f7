/** What servers say and are called, where Pi draws it: nothing in it acts on the terminal, and none of it is endless. */
import type { AgentToolUpdateCallback, CodemodeToolDetails } from "@earendil-works/pi-coding-agent";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createOutputStore } from "../../runtime/limits/output-store.ts";
import { CallRows } from "../../runtime/pi/codemode/call-rows.ts";
import { promptContent } from "../../runtime/pi/prompts/prompt-content.ts";
import { messageText, shortLine, terminalLine, terminalText } from "../../runtime/pi/terminal-text.ts";
import { toolFields } from "../../runtime/pi/tools/tool-definition.ts";
import type { ToolEntry } from "../../schemas/artifacts/tool-table.ts";
import { shownProgress } from "./shown-progress.ts";

const NASTY = "a\u001b]0;evil\u0007\u009b2J\u202eb";
const SHOWN = "a\\u001b]0;evil\\u0007\\u009b2J\\u202eb";
/** Whatever a terminal obeys, but line feeds and tabs. */
const OBEYED = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u;

describe("text", () => {
  const rows: [how: (text: string) => string, given: string, wanted: string][] = [
    [terminalText, `${NASTY}\r\nc\rd\te`, `${SHOWN}\nc\nd    e`],
    [messageText, `${NASTY}\r\nc\rd\te`, `${SHOWN}\nc\nd\te`],
    [terminalLine, `${NASTY} \n c`, `${SHOWN} c`],
    [(text) => shortLine(text, 5), "abcdef", "abcd…"],
    [(text) => shortLine(text, 5), "ab  cd\n", "ab…"],
    [(text) => shortLine(text, 6), "ab  cd\n", "ab  cd"],
    [(text) => shortLine(text, 4), "ab😀😀", "ab…"],
  ];
  test.each(rows)("%# is fit for its place", (how, given, wanted) => {
    expect(how(given)).toBe(wanted);
  });

  test("holds nothing that is obeyed, whatever it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const shown of [terminalText(text), messageText(text), shortLine(text, 20)])
          expect(shown).not.toMatch(OBEYED);
        expect(shortLine(text, 20).length).toBeLessThanOrEqual(20);
      }),
    );
  });
});

const ENTRY = { server: "s", tool: `t${NASTY}`, name: "mcp__s__t", maxOutputBytes: 1000 } as ToolEntry;

test("a tool is called something printable", () => {
  const definition = { inputSchema: {} } as Parameters<typeof toolFields>[0]["definition"];
  const namespace = { name: "mcp__s" };
  expect(toolFields({ entry: ENTRY, definition, namespace, exposure: "direct" }).label).toBe(`s/t${SHOWN}`);
});

test("progress is a short line, however much a server says", async () => {
  const message = `${NASTY}\n${"x".repeat(1_000_000)}`;
  const said = await shownProgress(ENTRY, (tell) => tell({ progress: 1, total: 2, message }));
  expect(said).toEqual([expect.stringMatching(/^1\/2 a\\u001b.*x…$/)]);
  expect(said[0]!.length).toBeLessThan(220);
});

test("the rows of a script show errors of servers and obey none", async () => {
  const shown: CodemodeToolDetails[] = [];
  const onUpdate: AgentToolUpdateCallback<CodemodeToolDetails> = ({ details }) => void (details && shown.push(details));
  const rows = new CallRows("1", onUpdate);
  rows.begin("t", `{"a":"\u009b2J"}`)({ status: "error", error: `${NASTY}\n${"x".repeat(1000)}` });
  const [row] = rows.end().calls;
  expect(row).toMatchObject({ args: '{"a":"\\u009b2J"}', status: "error" });
  expect(row!.error).toMatch(/^a\\u001b.*\nx+…$/);
  expect(row!.error!.length).toBe(500);
});

test("a prompt becomes a message that Pi can draw", async () => {
  const messages = [{ role: "user", content: { type: "text", text: `${NASTY}\n\tindented` } }] as const;
  const context = { server: "s", store: createOutputStore(), maxBytes: 1000, readResourceTool: undefined };
  expect(await promptContent({ messages } as unknown as Parameters<typeof promptContent>[0], context)).toEqual([
    { type: "text", text: `${SHOWN}\n\tindented` },
  ]);
});
