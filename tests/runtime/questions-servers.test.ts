/** Real servers of both eras that ask back, real processes, and the handlers of a runtime. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ClientHandlers, QuestionContext } from "../../runtime/client-features.ts";
import { ServerError, ToolError } from "../../runtime/errors.ts";
import { Stub } from "../cli/pimcp.ts";
import { scratchFolder } from "../scratch.ts";
import { advertised, readAskingLog } from "../servers/asking-log.ts";
import { EVERYTHING, eventually } from "../servers/run.ts";
import { compiled, declared, rejection, script } from "./runtime-project.ts";

type Params = Readonly<Record<string, unknown>>;

/** A server that asks, and everything that it was sent. */
async function asking(env: Record<string, string>, handlers: ClientHandlers) {
  const log = join(scratchFolder(), "log");
  const project = await compiled({ s: script("asking.mjs", { ...env, LOG: log }) });
  const from = readFileSync(log, "utf8").length;
  const runtime = await project.runtime({ handlers });
  const received = () => readAskingLog(log, from);
  return { project, runtime, received };
}

const ERAS: readonly [string, Record<string, string>][] = [
  ["2025", {}],
  ["2026", { ERA: "modern" }],
];
const accept = async () => ({ action: "accept", content: { name: "Ada" } });
const FIELDS = {
  type: "object",
  properties: {
    size: { type: "string", oneOf: [{ const: "s", title: "Small" }], default: "s" },
    count: { type: "integer", default: 2 },
    name: { type: "string" },
  },
  required: ["name", "count"],
};

test("a server of 2025 that never has enough is ended, however quickly it is answered", async () => {
  const { runtime } = await asking({}, { elicitation: accept });
  const error = await rejection(runtime.call("s", "nag"));
  expect(error).toBeInstanceOf(ServerError);
  expect((error as Error).message).toContain("it asked more than 200 questions during tools/call");
});

describe.each(ERAS)("a server of %s", (era, env) => {
  test("asks the handler, which learns who asks during what, once", async () => {
    const asked: [Params, QuestionContext][] = [];
    const elicitation = async (params: Params, context: QuestionContext) => {
      asked.push([params, context]);
      return accept();
    };
    const { runtime } = await asking(env, { elicitation });
    expect((await runtime.call("s", "greet")).text).toBe("hello Ada");
    expect(asked).toMatchObject([[{ message: "Who is there?" }, { server: "s", tool: "greet" }]]);
    expect(asked[0]![1].whenDone === true).toBe(era === "2026");
  });

  test("gets the form's defaults with the answer", async () => {
    const { runtime } = await asking(env, { elicitation: accept });
    const { text } = await runtime.call("s", "form", { schema: FIELDS });
    expect(JSON.parse(text)).toEqual({ action: "accept", content: { name: "Ada", size: "s", count: 2 } });
  });

  test.each(["decline", "cancel"])("gets a %s without content", async (action) => {
    const { runtime } = await asking(env, { elicitation: async () => ({ action, content: { name: "Ada" } }) });
    expect(JSON.parse((await runtime.call("s", "form")).text)).toEqual({ action });
    expect((await runtime.call("s", "greet")).text).toBe(`no name: ${action}`);
  });

  test("sends people to a page, by the handler for pages", async () => {
    const seen: Params[] = [];
    const done: string[] = [];
    const url = async (params: Params) => {
      seen.push(params);
      return { action: "accept" };
    };
    const completed = (id: string, server: string) => void done.push(`${server} ${id}`);
    const { runtime } = await asking(env, { elicitation: { url, completed } });
    expect(JSON.parse((await runtime.call("s", "visit")).text)).toEqual({ action: "accept" });
    expect(seen).toMatchObject([{ mode: "url", url: "https://example.com/visit" }]);
    expect(done).toEqual(era === "2025" ? ["s v1"] : []);
  });

  test("is told of what there is a handler for, and of nothing else", async () => {
    const rows: [ClientHandlers, unknown][] = [
      [{}, {}],
      [{ elicitation: accept }, { elicitation: { form: {}, url: {} } }],
      [
        { elicitation: { form: accept }, roots: async () => [] },
        { elicitation: { form: {} }, roots: {} },
      ],
    ];
    for (const [handlers, want] of rows) {
      const { runtime, received } = await asking(env, handlers);
      await runtime.call("s", "greet").catch(() => undefined);
      expect(advertised(received())).toEqual([want]);
    }
  });

  test("a handler that throws, or answers what doesn't fit, fails its call alone and tells the server nothing", async () => {
    for (const elicitation of [
      async () => Promise.reject(new Error("secret plans")),
      async () => ({ action: "accept", content: { name: 5 } }),
    ]) {
      const { runtime, received } = await asking(env, { elicitation });
      const error = await rejection(runtime.call("s", "greet"));
      expect(error).toBeInstanceOf(ServerError);
      expect(error.message).toMatch(/^server "s": the (handler for|answer to) its elicitation \("Who is there\?"\)/);
      expect(JSON.stringify(received())).not.toContain("secret plans");
      const again = await rejection(runtime.call("s", "greet"));
      expect(again).toBeInstanceOf(ServerError);
    }
  });

  test("an abort of the call closes its question", async () => {
    const abort = new AbortController();
    let signal: AbortSignal | undefined;
    const elicitation = async (_: Params, context: QuestionContext) => {
      signal = context.signal;
      return new Promise<Record<string, unknown>>(() => {});
    };
    const { runtime } = await asking(env, { elicitation });
    const call = rejection(runtime.call("s", "greet", {}, { signal: abort.signal }));
    await eventually(() => signal !== undefined, "the question");
    abort.abort();
    expect((await call).message).toContain("cancelled");
    expect(signal!.aborted).toBe(true);
  });

  test("the time that a person takes isn't the server's", async () => {
    const elicitation = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1200));
      return accept();
    };
    const { runtime } = await asking(env, { elicitation });
    expect((await runtime.call("s", "greet", {}, { timeoutMs: 600 })).text).toBe("hello Ada");
  });
});

describe("2025 alone", () => {
  test("two questions of one call are both answered", async () => {
    const names = new Map([
      ["First?", "Ada"],
      ["Second?", "Bob"],
    ]);
    const elicitation = async ({ message }: Params) => ({
      action: "accept",
      content: { name: names.get(String(message)) },
    });
    const { runtime } = await asking({}, { elicitation });
    const answers = JSON.parse((await runtime.call("s", "pair")).text) as { content: { name: string } }[];
    expect(answers.map(({ content }) => content.name)).toEqual(["Ada", "Bob"]);
  });

  test("with two calls under way nobody knows whose question it is: a failure is told to the server and said here", async () => {
    const contexts: QuestionContext[] = [];
    const elicitation = async (_: Params, context: QuestionContext) => {
      contexts.push(context);
      await eventually(() => contexts.length === 2, "both questions");
      throw new Error("went away");
    };
    const { runtime, project } = await asking({}, { elicitation });
    const errors = await Promise.all(["form", "form"].map((tool) => rejection<ToolError>(runtime.call("s", tool))));
    for (const error of errors) {
      expect(error).toBeInstanceOf(ToolError);
      expect(error.message).toContain("the client could not answer");
    }
    expect(contexts[1]!.tool).toBeUndefined();
    expect(project.codes()).toContain("question-unanswered");
  });

  test("a page to visit before the call is visited, and the call made", async () => {
    const seen: Params[] = [];
    const url = async (params: Params, { whenDone }: QuestionContext) => {
      seen.push({ ...params, whenDone });
      return { action: "accept" };
    };
    const { runtime } = await asking({}, { elicitation: { url } });
    expect((await runtime.call("s", "visit_first")).text).toBe("visited");
    expect(seen).toMatchObject([{ url: "https://example.com/first", whenDone: true }]);
  });

  test("without a handler for pages the error says what was asked", async () => {
    const { runtime } = await asking({}, { elicitation: { form: accept } });
    const error = await rejection(runtime.call("s", "visit_first"));
    expect(error.message).toContain('it asked for elicitation ("First visit")');
    expect(error.message).toContain("no handler that does URL elicitation");
  });

  test("a completion comes from its handler", async () => {
    const sampling = async () => ({ model: "m", role: "assistant", content: { type: "text", text: "42" } });
    const { runtime } = await asking({}, { sampling });
    expect(JSON.parse((await runtime.call("s", "sample")).text)).toMatchObject({ content: { text: "42" } });
  });
});

describe("2026 servers that misbehave", () => {
  const form = { method: "elicitation/create", params: { message: "More?", requestedSchema: { type: "object" } } };
  const again = (key: string) => ({ result: { resultType: "input_required", inputRequests: { [key]: form } } });
  const project = async (replies: readonly unknown[]) => {
    const stub = new Stub({ era: "modern", tools: [declared("t", { type: "object" })] });
    const made = await compiled({ s: stub.entry });
    stub.set({ era: "modern", tools: [declared("t", { type: "object" })], replies: { "tools/call": replies } });
    return { made, calls: () => stub.log().filter(({ method }) => method === "tools/call").length };
  };

  test("asking without end is an error after ten rounds", async () => {
    const { made, calls } = await project(Array.from({ length: 40 }, (_, n) => again(`k${n}`)));
    const runtime = await made.runtime({ handlers: { elicitation: async () => ({ action: "accept" }) } });
    const error = await rejection(runtime.call("s", "t"));
    expect(error.message).toContain("it asked for more input 10 times without an end during tools/call");
    expect(calls()).toBe(11);
  });

  test("asking what nobody said could be asked names the question", async () => {
    const { made, calls } = await project([again("k")]);
    const error = await rejection((await made.runtime()).call("s", "t"));
    expect(error).toBeInstanceOf(ServerError);
    expect(error.message).toContain('it asked for elicitation ("More?"), and there is no handler');
    expect(calls()).toBe(1);
  });

  test("the same question again is answered as before, without asking", async () => {
    let asked = 0;
    const elicitation = async () => {
      asked++;
      return { action: "accept" };
    };
    const { made } = await project([again("k"), again("k"), { result: { resultType: "complete", content: [] } }]);
    await (await made.runtime({ handlers: { elicitation } })).call("s", "t");
    expect(asked).toBe(1);
  });
});

describe("a server that keeps tools from clients that can't be asked", () => {
  test("is compiled with them, and has them where there is a handler", async () => {
    const project = await compiled({ s: EVERYTHING });
    const runtime = await project.runtime({ handlers: { elicitation: async () => ({ action: "decline" }) } });
    expect((await runtime.call("s", "trigger-elicitation-request")).text).toContain("declined");
    expect((await runtime.compareWithServer("s"))?.tools).toEqual([]);
    expect(project.codes()).not.toContain("tools-drifted");
  });

  test("without a handler they are missing, and it is said why", async () => {
    const project = await compiled({ s: EVERYTHING });
    const runtime = await project.runtime();
    expect((await runtime.compareWithServer("s"))?.tools).toContainEqual({
      tool: "trigger-elicitation-request",
      change: "removed",
      members: [],
    });
    const drifted = project.notices.find(({ code }) => code === "tools-drifted");
    expect(drifted).toMatchObject({ severity: "info" });
    expect(drifted?.notes.join()).toContain("without an elicitation handler");
  });
});
