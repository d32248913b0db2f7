/** What is shown of a call's progress, without Pi and without a server. */
import type { CallProgress } from "../../runtime/codegen/v1.ts";
import { createOutputStore } from "../../runtime/limits/output-store.ts";
import { callTool, type PiCall } from "../../runtime/pi/tools/call-tool.ts";

/** Calls a tool whose server tells what `run` has it tell; gives back each text that was shown. */
export async function shownProgress(
  entry: PiCall["entry"],
  run: (tell: (progress: CallProgress) => void) => void | Promise<void>,
): Promise<string[]> {
  const said: string[] = [];
  await callTool({
    entry,
    args: {},
    runtime: {
      compareWithServer: async () => undefined,
      callEntry: async (_entry, _args, options) => {
        await run((progress) => options?.onProgress?.(progress));
        return { result: { content: [] } } as never;
      },
    },
    store: createOutputStore(),
    signal: undefined,
    ended: new AbortController().signal,
    onLateEnd: () => undefined,
    onUpdate: ({ content }) => void said.push(...content.map((block) => (block.type === "text" ? block.text : ""))),
  });
  return said;
}
