/** `models` as scripts call it, over a registry of the test's own: what reaches it, what comes back, and what is refused before. */
import { describe, expect, test } from "vitest";
import { CallRows } from "../../runtime/pi/codemode/call-rows.ts";
import { type ModelSurroundings, modelFunctions } from "../../runtime/pi/codemode/models.ts";
import { UsageTotal } from "../../runtime/pi/codemode/usage-total.ts";

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.25 };
const USAGE = { input: 3, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 4, cost: COST };
const CONTEXT = {
  state: { a: 1 },
  questions: { q: { type: "bool", instructions: "Is it?", criteria: { true: "yes", false: "no" } } },
};
const MODELS = [
  {
    type: "classifier",
    provider: "maker",
    id: "small",
    name: "Small",
    api: "x",
    input: ["text"],
    headers: { key: "secret" },
  },
  { type: "image", provider: "maker", id: "painter", name: "Painter", api: "x", input: ["text"] },
];

/** The functions over a registry that answers with `answer`, and what it was asked. */
function setUp(
  answer: (context: unknown) => Promise<object> = async () => ({ stopReason: "stop", answers: {}, usage: USAGE }),
) {
  const asked: unknown[] = [];
  const ask = (model: unknown, context: unknown) => {
    asked.push(model);
    return answer(context);
  };
  const ofType = (type: string, provider?: string) =>
    MODELS.filter((model) => model.type === type && (provider ?? model.provider) === model.provider);
  const registry = {
    getModelsOfType: ofType,
    getAvailableOfType: async (type: string, provider?: string) => ofType(type, provider),
    getModelOfType: (type: string, provider: string, id: string) =>
      ofType(type, provider).find((model) => model.id === id),
    classify: ask,
    generateImages: ask,
  } as unknown as ModelSurroundings["registry"];
  const rows = new CallRows("call", undefined);
  const usage = new UsageTotal();
  const images: number[] = [];
  const functions = modelFunctions({ registry, rows, usage, onImages: (count) => void images.push(count) });
  const call = async (name: string, ...args: unknown[]) =>
    functions[`models.${name}`]!(JSON.parse(JSON.stringify(args)), { signal: new AbortController().signal });
  return { call, rows, usage, images, asked };
}

test("the catalog is shown without headers, which may hold credentials", async () => {
  const { call } = setUp();
  const [listed] = (await call("getModelsOfType", "classifier")) as object[];
  expect(listed).toMatchObject({ provider: "maker", id: "small" });
  expect(JSON.stringify([listed, await call("getAvailableOfType", "classifier", "maker")])).not.toContain("secret");
  expect(await call("getModelOfType", "image", "maker", "painter")).toMatchObject({ name: "Painter" });
  expect(await call("getModelOfType", "image", "maker", "small")).toBeUndefined();
});

test("a model is found by provider and id, and nothing else that a script says of it counts", async () => {
  const { call, asked, rows, usage } = setUp();
  await call("classify", { provider: "maker", id: "small", baseUrl: "http://elsewhere", headers: {} }, CONTEXT);
  await call("classify", { provider: "maker", id: "small" }, CONTEXT);
  expect(asked).toEqual([MODELS[0], MODELS[0]]);
  expect(rows.end().calls).toMatchObject([
    { name: "models.classify", args: "maker/small", status: "ok", cost: 0.25 },
    { name: "models.classify", args: "maker/small", status: "ok", cost: 0.25 },
  ]);
  expect(usage.total).toMatchObject({ input: 6, output: 2, totalTokens: 8, cost: { total: 0.5 } });
});

test("a provider's failure is a result, and is seen in the row", async () => {
  const { call, rows, usage } = setUp(async () => ({ stopReason: "error", errorMessage: "no credit", answers: {} }));
  expect(await call("classify", { provider: "maker", id: "small" }, CONTEXT)).toMatchObject({ stopReason: "error" });
  expect(rows.end().calls).toMatchObject([{ status: "error", error: "no credit" }]);
  expect(usage.total).toBeUndefined();
});

test("four calls at a time, the others in their order", async () => {
  const started: number[] = [];
  const finish: (() => void)[] = [];
  const { call } = setUp(async (context) => {
    started.push((context as { state: { n: number } }).state.n);
    await new Promise<void>((resolve) => finish.push(resolve));
    return { stopReason: "stop", answers: {} };
  });
  const model = { provider: "maker", id: "small" };
  const calls = Array.from({ length: 10 }, (_, n) => call("classify", model, { ...CONTEXT, state: { n } }));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (const running of [4, 5, 6, 7, 8, 9, 10]) {
    await turn();
    expect(started).toEqual([...Array(running).keys()]);
    finish.shift()!();
  }
  for (const end of finish) end();
  await Promise.all(calls);
});

test("images that were made are counted", async () => {
  const output = [{ type: "image" }, { type: "text" }, { type: "image" }];
  const { call, images } = setUp(async () => ({ stopReason: "stop", output }));
  await call("generateImages", { provider: "maker", id: "painter" }, { input: [{ type: "text", text: "a fox" }] });
  expect(images).toEqual([2]);
});

describe("what is refused before a provider is asked", () => {
  const model = { provider: "maker", id: "small" };
  const painter = { provider: "maker", id: "painter" };
  const question = (q: object) => ({ state: {}, questions: { q } });
  test.each<[said: string, name: string, ...args: unknown[]]>([
    ["a classifier model first", "classify", undefined, CONTEXT],
    ["there is no classifier model maker/none", "classify", { provider: "maker", id: "none" }, CONTEXT],
    ["maker/painter is of type image", "classify", painter, CONTEXT],
    ["context is an object", "classify", model],
    ["context.state is an object", "classify", model, { questions: {} }],
    ["at least one question", "classify", model, { state: {}, questions: {} }],
    ["context.images is a list", "classify", model, { ...CONTEXT, images: ["x"] }],
    ["questions.q: instructions", "classify", model, question({ type: "bool" })],
    ["questions.q: criteria lists", "classify", model, question({ type: "score", instructions: "", criteria: {} })],
    [
      "questions.q: criteria says for each",
      "classify",
      model,
      question({ type: "choice", instructions: "", criteria: {} }),
    ],
    ['type is "choice"', "classify", model, question({ type: "number", instructions: "" })],
    ["context.input is a list", "generateImages", painter, { prompt: "a fox" }],
    ["context.input is a list", "generateImages", painter, { input: [] }],
    ["takes three strings", "getModelOfType", "image", "maker/painter"],
    ['"chat", "image" or "classifier"', "getModelsOfType", "video"],
  ])("%s", async (said, name, ...args) => {
    const { call, asked } = setUp();
    await expect(call(name, ...args)).rejects.toThrow(said);
    expect(asked).toEqual([]);
  });
});
