/** Servers that ask for a model's answer, in a real Pi with several models. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Model } from "@earendil-works/pi-ai";
import { describe, expect, test } from "vitest";
import { modelName, proposeModel } from "../../runtime/pi/sampling/sampling-model.ts";
import { readSamplingRequest } from "../../runtime/pi/sampling/sampling-request.ts";
import { Stub, tool, type Workspace } from "../cli/pimcp.ts";
import { eventually } from "../servers/run.ts";
import { type Answer, compiledWorkspace, runPi, textOf } from "./pi.ts";
import { RpcPi } from "./rpc.ts";

const DONE: Answer = { text: "done" };
const TEST_MS = 90_000;
const server = join(import.meta.dirname, "..", "servers", "asking.mjs");
const MODELS = join(import.meta.dirname, "sampled-models.mjs");

interface Sampled {
  readonly model: string;
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly context: { readonly messages: readonly { readonly role: string; readonly content: unknown }[] };
}

interface Setting {
  readonly workspace: Workspace;
  readonly sampled: () => Sampled[];
  readonly options: { readonly extensions: string[]; readonly env: { readonly SAMPLED: string } };
}

async function setting(entry: object = { command: process.execPath, args: [server] }): Promise<Setting> {
  const workspace = await compiledWorkspace({ asking: { ...entry, exposure: "direct" } });
  const SAMPLED = join(workspace.root, "sampled");
  const sampled = () =>
    existsSync(SAMPLED)
      ? readFileSync(SAMPLED, "utf8")
          .split("\n")
          .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Sampled]))
      : [];
  return { workspace, sampled, options: { extensions: [MODELS], env: { SAMPLED } } };
}

const sample = (request: object): Answer => ({ call: ["mcp__asking__sample", { request }] });
const saying = (text: string) => ({ role: "user", content: { type: "text", text } });
const drawn = { role: "assistant", content: { type: "image", data: "", mimeType: "" } };
const hinting = (...names: string[]) => ({ modelPreferences: { hints: names.map((name) => ({ name })) } });

test("nothing is sent to a model, and no answer to the server, before the user has seen it", {
  timeout: TEST_MS,
}, async () => {
  const { workspace, sampled, options } = await setting();
  const request = {
    ...hinting("words"),
    systemPrompt: "Be brief\u001b[2J",
    messages: [saying("1"), { role: "assistant", content: [{ type: "text", text: "one" }] }, saying("2"), saying("3")],
    maxTokens: 1000,
    temperature: 0.5,
    stopSequences: ["STOP"],
  };
  const pi = new RpcPi(workspace, { answers: [sample(request), DONE], ...options });
  pi.prompt();
  const first = await pi.dialog();
  expect(first.title.split("\n")).toEqual([
    'Server "asking" wants a model to answer (tool sample):',
    "system:",
    "│ Be brief\\u001b[2J",
    "(1 earlier message)",
    "assistant:",
    "│ one",
    "user:",
    "│ 2",
    "user:",
    "│ 3",
    "Model: sampled/words, at most 1000 tokens",
  ]);
  // Enter alone takes the first.
  expect(first.options).toEqual(["Decline", "Let sampled/words answer", "Read all of it", "Another model"]);
  pi.reply(first, "Read all");
  expect((await pi.answer("Back")).title).toContain("user:\n│ 1\nassistant:\n│ one");
  expect(sampled()).toEqual([]);
  await pi.answer("Let sampled/words answer");

  const answer = await pi.dialog();
  expect(answer.title).toMatch(/^sampled\/words answers server "asking":\n│ words says\s*\n\d+ tokens in, \d+ out$/);
  expect(answer.options![0]).toBe("Don't send it");
  expect(sampled()).toMatchObject([{ model: "words", maxTokens: 1000, temperature: 0.5 }]);
  expect(sampled()[0]!.context.messages.filter(({ role }) => role !== "system")).toMatchObject([
    { role: "user" },
    { role: "assistant", content: [{ type: "text", text: "one" }] },
    { role: "user" },
    { role: "user" },
  ]);
  expect(pi.ended()).toEqual([]);
  pi.reply(answer, "Send");
  expect(JSON.parse(textOf(await pi.tool()))).toEqual({
    model: "words",
    role: "assistant",
    content: { type: "text", text: "words says " },
    stopReason: "stopSequence",
  });
});

test("a no goes to the server, who may do without; a failure ends the call and says why", {
  timeout: TEST_MS,
}, async () => {
  const { workspace, sampled, options } = await setting();
  const calls = [
    sample(hinting("words")),
    sample(hinting("words")),
    sample(hinting("words")),
    sample({ ...hinting("words"), messages: [saying("fail")] }),
    sample({ messages: [{ role: "user", content: { type: "audio", data: "AAAA", mimeType: "audio/wav" } }] }),
    sample({ tools: [{ name: "t", inputSchema: { type: "object" } }] }),
    sample({ ...hinting("eyes"), messages: [saying("cut")] }),
  ];
  const pi = new RpcPi(workspace, { answers: [...calls, DONE], ...options });
  pi.prompt();
  await pi.answer("Decline");
  expect(textOf(await pi.tool(0))).toContain("the user said no");
  pi.dismiss(await pi.dialog());
  expect(textOf(await pi.tool(1))).toContain("the user said no");
  expect(sampled()).toEqual([]);
  await pi.answer("Let it ask");
  await pi.answer("Let sampled/words");
  await pi.answer("Don't send it");
  expect(textOf(await pi.tool(2))).toContain("the user said no");
  await pi.answer("Let sampled/words");
  const failed = await pi.tool(3);
  expect(failed).toMatchObject({ isError: true });
  expect(textOf(failed)).toContain("sampled/words gave no answer: quota used up");
  expect(textOf(await pi.tool(4))).toContain("only text and a user's images are taken");
  expect(textOf(await pi.tool(5))).toContain("no handler that does sampling with tools");
  expect((await pi.answer("Let sampled/eyes")).title).toContain("at most 10 tokens");
  expect((await pi.answer("Send")).title).toContain("eyes says STOP never");
  expect(JSON.parse(textOf(await pi.tool(6)))).toMatchObject({ model: "eyes", stopReason: "maxTokens" });
});

test("images go to models that see, another model can be taken, and an abort ends the answer", {
  timeout: TEST_MS,
}, async () => {
  const { workspace, sampled, options } = await setting();
  const image = { role: "user", content: { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" } };
  const calls = [
    sample({ ...hinting("words", "eyes"), messages: [image] }),
    sample({ messages: [saying("hello")], maxTokens: 1e9 }),
    sample({ ...hinting("words"), messages: [saying("slow")] }),
  ];
  const pi = new RpcPi(workspace, { answers: [...calls, DONE], ...options });
  pi.prompt();
  const first = await pi.answer("Let sampled/eyes answer");
  expect(first.title).toContain("│ [image/png image, 1 kB]");
  await pi.answer("Send");
  await pi.tool(0);
  expect(sampled()[0]!.context.messages.at(-1)).toMatchObject({ content: [{ type: "image", mimeType: "image/png" }] });

  expect((await pi.answer("Another")).title).toContain("Model: scripted/one, at most 16384 tokens");
  await pi.answer("sampled/eyes");
  // As many as the model can.
  expect((await pi.answer("Let sampled/eyes")).title).toContain("Model: sampled/eyes, at most 100 tokens");
  await pi.answer("Send");
  await pi.tool(1);
  expect(sampled()[1]).toMatchObject({ model: "eyes", maxTokens: 100 });

  await pi.answer("Let sampled/words");
  await eventually(() => sampled().length === 3, "the slow answer");
  pi.send({ type: "abort" });
  expect(await pi.tool(2)).toMatchObject({ isError: true });
  await pi.settled();
  expect(pi.dialogs()).toHaveLength(7);
});

test("a question of 2026-07-28 is answered the same way; without a user interface it is not asked", {
  timeout: TEST_MS,
}, async () => {
  const params = { messages: [saying("6 times 7?")], maxTokens: 10, ...hinting("words") };
  const inputRequests = { six: { method: "sampling/createMessage", params } };
  const stub = new Stub({
    era: "modern",
    tools: [tool("sample")],
    replies: {
      "tools/call": [
        { result: { resultType: "input_required", inputRequests } },
        { result: { resultType: "complete", content: [{ type: "text", text: "thanks" }] } },
      ],
    },
  });
  const { workspace, options } = await setting(stub.entry);
  const pi = new RpcPi(workspace, { answers: [sample({}), DONE], ...options });
  pi.prompt();
  await pi.answer("Let sampled/words");
  await pi.answer("Send");
  expect(textOf(await pi.tool())).toBe("thanks");
  await pi.settled();
  await pi.end();
  const { ended } = await runPi(workspace, { args: ["--approve"], answers: [sample({}), DONE], ...options });
  expect(textOf(ended[0])).toContain("it asked for sampling, and nobody can be asked");
});

describe("which model is proposed", () => {
  const model = (provider: string, id: string, price: number) =>
    ({ provider, id, name: id, cost: { input: price, output: price, cacheRead: 0, cacheWrite: 0 } }) as Model<string>;
  const all = [model("a", "big-5", 9), model("a", "mini-5", 1), model("b", "mini-4", 0), model("b", "big-4", 8)];
  const [big, , , other] = all;
  test.each<[string, unknown, Model<string> | undefined, string | undefined]>([
    ["the session's", undefined, big, "a/big-5"],
    ["the first where there is none", {}, undefined, "a/big-5"],
    ["the first hint that fits", { hints: [{ name: "nothing" }, { name: "MINI" }, { name: "big" }] }, big, "a/mini-5"],
    ["a hint prefers the session's provider", { hints: [{ name: "mini" }] }, other, "b/mini-4"],
    ["a hint may name the provider", { hints: [{ name: "b/big" }] }, big, "b/big-4"],
    ["a cheap one where cost is first", { costPriority: 0.9, intelligencePriority: 0.2 }, big, "a/mini-5"],
    ["a price of nothing may be an unknown one", { costPriority: 1 }, other, "b/big-4"],
    ["the session's where something else is first", { costPriority: 0.5, speedPriority: 0.5 }, big, "a/big-5"],
    ["odd preferences are none", { hints: "mini", costPriority: "1" }, big, "a/big-5"],
    ["odd hints are none", { hints: [null, {}, { name: 5 }, { name: " " }] }, big, "a/big-5"],
  ])("%s", (_, preferences, current, want) => {
    const proposed = proposeModel(preferences, all, current);
    expect(proposed && modelName(proposed)).toBe(want);
  });

  test("none where there are none", () => {
    expect(proposeModel({ hints: [{ name: "mini" }] }, [], big)).toBeUndefined();
  });
});

test.each<[string, object, string]>([
  ["no messages", {}, "it has no messages"],
  ["an empty list", { messages: [] }, "it has no messages"],
  ["a message that is none", { messages: [1] }, "a message is none"],
  ["another role", { messages: [{ role: "system", content: [] }] }, "a message is of neither"],
  ["no content", { messages: [{ role: "user", content: [] }] }, "a message has no content"],
  [
    "a tool's result",
    { messages: [{ role: "user", content: { type: "tool_result" } }] },
    "it sends tool_result as the user",
  ],
  ["an assistant's image", { messages: [drawn] }, "it sends image as the assistant"],
  ["a flood", { messages: Array(1001).fill(saying("x")) }, "it has 1001 messages"],
  [
    "a book",
    { messages: [saying("x".repeat(3_999_990))], systemPrompt: "x".repeat(11) },
    "it has 4000001 characters of text",
  ],
])("no model takes %s", (_, params, reason) => {
  const read = readSamplingRequest(params as Readonly<Record<string, unknown>>);
  expect(read.ok ? "" : read.reason).toContain(reason);
});
