/** One question, one handler: what is handed over, what may be sent back, and what becomes of a handler that can't. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ClientHandlers, capabilitiesOf } from "../../runtime/client-features.ts";
import { DeclinedError } from "../../runtime/index.ts";
import { answerQuestion, type Question, questionText, UnansweredError } from "../../runtime/questions.ts";

const AGE = {
  type: "object",
  properties: { name: { type: "string", minLength: 2 }, age: { type: "integer", minimum: 0 } },
  required: ["name"],
};

function question(method: string, params: Record<string, unknown>, more: Partial<Question> = {}): Question {
  return { method: method as Question["method"], params, server: "s", ...more };
}
const form = (requestedSchema: unknown, more: Partial<Question> = {}) =>
  question("elicitation/create", { message: "Who is there?", requestedSchema }, more);
const visit = question("elicitation/create", { mode: "url", message: "Go", url: "https://example.com" });
const accepting = (content: unknown): ClientHandlers => ({
  elicitation: async () => ({ action: "accept", content }),
});

async function unanswered(handlers: ClientHandlers, asked: Question): Promise<UnansweredError> {
  const error = await answerQuestion(handlers, asked).catch((reason: unknown) => reason);
  if (!(error instanceof UnansweredError)) throw new Error(`expected no answer, got ${JSON.stringify(error)}`);
  return error;
}

describe("what the handler gets", () => {
  test("the params as they came and where the question comes from", async () => {
    const seen: unknown[] = [];
    const signal = new AbortController().signal;
    const handlers: ClientHandlers = {
      elicitation: async (...args) => {
        seen.push(...args);
        return { action: "decline" };
      },
    };
    await answerQuestion(handlers, form(AGE, { tool: "greet", taskId: "t1", signal }));
    expect(seen[0]).toEqual({ message: "Who is there?", requestedSchema: AGE });
    expect(seen[1]).toEqual({ server: "s", tool: "greet", taskId: "t1", whenDone: undefined, signal });
  });

  test("each elicitation mode has its handler", async () => {
    const handlers: ClientHandlers = {
      elicitation: { form: async () => ({ action: "decline" }), url: async () => ({ action: "accept" }) },
    };
    expect(await answerQuestion(handlers, form(AGE))).toEqual({ action: "decline" });
    expect(await answerQuestion(handlers, visit)).toEqual({ action: "accept" });
  });
});

describe("what is advertised", () => {
  const handler = async () => ({});
  test.each<[string, ClientHandlers, unknown]>([
    ["nothing without handlers", {}, {}],
    ["both modes for a plain function", { elicitation: handler }, { elicitation: { form: {}, url: {} } }],
    ["forms alone", { elicitation: { form: handler } }, { elicitation: { form: {} } }],
    ["URLs alone", { elicitation: { url: handler } }, { elicitation: { url: {} } }],
    ["no elicitation for no mode", { elicitation: {} }, {}],
    ["plain sampling", { sampling: handler }, { sampling: {} }],
    ["sampling with tools", { sampling: { create: handler, tools: true } }, { sampling: { tools: {} } }],
    ["roots", { roots: async () => [] }, { roots: {} }],
  ])("%s", (_, handlers, want) => {
    expect(capabilitiesOf(handlers)).toEqual(want);
  });
});

describe("what may be sent", () => {
  test.each<[string, unknown, unknown, unknown]>([
    ["an answer that fits", AGE, { name: "Ada", age: 36 }, { name: "Ada", age: 36 }],
    ["a default for what is left out", { properties: { n: { type: "number", default: 5 } } }, {}, { n: 5 }],
    ["no default over an answer", { properties: { n: { type: "number", default: 5 } } }, { n: 1 }, { n: 1 }],
    [
      "defaults of every kind",
      {
        properties: {
          s: { type: "string", default: "x" },
          b: { type: "boolean", default: false },
          e: { type: "string", enum: ["a", "b"], default: "b" },
          m: { type: "array", items: { type: "string", enum: ["a", "b"] }, default: ["a"] },
        },
      },
      undefined,
      { s: "x", b: false, e: "b", m: ["a"] },
    ],
    ["no default that its own schema refuses", { properties: { n: { type: "integer", default: "no" } } }, {}, {}],
    ["no default that no form can carry", { properties: { o: { default: { a: 1 } } } }, {}, {}],
    ["an empty form", { type: "object", properties: {} }, undefined, {}],
    ["what a form without a schema has", undefined, { a: "b" }, { a: "b" }],
  ])("%s", async (_, schema, content, want) => {
    expect(await answerQuestion(accepting(content), form(schema))).toEqual({ action: "accept", content: want });
  });

  test("a field called __proto__ is a field", async () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string","default":"d"}},"required":["__proto__"]}');
    const { content } = (await answerQuestion(accepting({}), form(schema))) as { content: object };
    expect(JSON.stringify(content)).toBe('{"__proto__":"d"}');
    expect(Object.getPrototypeOf(content)).toBe(Object.prototype);
  });

  test.each<[string, unknown, RegExp]>([
    ["a required field missing", {}, /content\.name: expected string/],
    ["out of bounds", { name: "Ada", age: -1 }, /content\.age: expected integer/],
    ["of another kind", { name: 5 }, /content\.name: expected string/],
    ["nested", { name: "Ada", extra: { deep: true } }, /content\.extra: expected text/],
    ["null", { name: null }, /content\.name: expected text/],
    ["no object", ["Ada"], /content: expected an object/],
  ])("refused: %s", async (_, content, message) => {
    const error = await unanswered(accepting(content), form(AGE));
    expect(error.reason).toBe("unfit-answer");
    expect(error.message).toMatch(message);
  });

  test("an error says nothing of what was given", async () => {
    const error = await unanswered(accepting({ name: "Ada", age: "hunter2" }), form(AGE));
    expect(error.message).not.toContain("hunter2");
  });

  test("nothing goes along with a decline, a cancel or a visit", async () => {
    for (const action of ["decline", "cancel"]) {
      const handlers = { elicitation: async () => ({ action, content: { name: "Ada" } }) };
      expect(await answerQuestion(handlers, form(AGE))).toEqual({ action });
    }
    expect(await answerQuestion(accepting({ token: "secret" }), visit)).toEqual({ action: "accept" });
  });

  test.each([undefined, null, "accept", {}, { action: "yes" }, []])("no answer at all: %j", async (answer) => {
    const error = await unanswered({ elicitation: async () => answer as never }, form(AGE));
    expect(error.reason).toBe("unfit-answer");
  });

  test("whatever the schema and the answer, an accept fits or is refused", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (schema, content) => {
        const outcome = await answerQuestion(accepting(content), form(schema)).catch((error: unknown) => error);
        expect(outcome instanceof UnansweredError || (outcome as { action: unknown }).action === "accept").toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test("sampling and roots", async () => {
    const message = { model: "m", role: "assistant", content: { type: "text", text: "42" } };
    const sample = question("sampling/createMessage", { messages: [], maxTokens: 5 });
    expect(await answerQuestion({ sampling: async () => message }, sample)).toEqual(message);
    const noModel = { sampling: async () => ({ ...message, model: 5 }) };
    expect((await unanswered(noModel, sample)).message).toContain("model: expected text");
    const roots = [{ uri: "file:///work" }];
    expect(await answerQuestion({ roots: async () => roots }, question("roots/list", {}))).toEqual({ roots });
    const web = { roots: async () => [{ uri: "https://example.com" }] };
    expect((await unanswered(web, question("roots/list", {}))).message).toContain("roots[0].uri");
  });
});

describe("questions without an answer", () => {
  test.each<[string, ClientHandlers, Question, string]>([
    ["no handler for forms", {}, form(AGE), "no-handler"],
    ["a handler for the other mode", { elicitation: { form: async () => ({}) } }, visit, "no-handler"],
    ["no model", {}, question("sampling/createMessage", {}), "no-handler"],
    [
      "a model without tools",
      { sampling: async () => ({}) },
      question("sampling/createMessage", { tools: [] }),
      "no-handler",
    ],
    ["no roots", {}, question("roots/list", {}), "no-handler"],
    ["another method", accepting({}), question("tools/call", {}), "unusable-question"],
    ["an unknown mode", accepting({}), question("elicitation/create", { mode: "retina" }), "unusable-question"],
    ["a visit to nowhere", accepting({}), question("elicitation/create", { mode: "url" }), "unusable-question"],
    ["a schema that can't be used", accepting({}), form({ $ref: "#/nowhere" }), "unusable-question"],
  ])("%s", async (_, handlers, asked, reason) => {
    expect((await unanswered(handlers, asked)).reason).toBe(reason);
  });

  test("whoever leaves handlers out may say why", async () => {
    const absence = "nobody is there";
    const error = await unanswered({ absence }, question("sampling/createMessage", {}));
    expect(error).toMatchObject({ reason: "no-handler", message: "it asked for sampling, and nobody is there" });
  });

  test("a user's no is told apart from a failure", async () => {
    const sampling = async () => {
      throw new DeclinedError("not now");
    };
    const declined = await unanswered({ sampling }, question("sampling/createMessage", {}));
    expect(declined).toMatchObject({ reason: "declined", message: "the user declined its sampling: not now" });
    expect(declined.isDecline).toBe(true);
    const failed = await unanswered({ sampling: async () => ({}) }, question("sampling/createMessage", {}));
    expect(failed.isDecline).toBe(false);
  });

  test("a handler that throws, at once or later, is the cause", async () => {
    const cause = new Error("the user went away");
    const throwing = () => {
      throw cause;
    };
    for (const elicitation of [throwing, async () => throwing()]) {
      const error = await unanswered({ elicitation }, form(AGE));
      expect(error).toMatchObject({ reason: "handler-failed", cause });
      expect(error.message).toBe('the handler for its elicitation ("Who is there?") failed: the user went away');
    }
  });

  test("an abort ends it, even where the handler doesn't listen", async () => {
    const abort = new AbortController();
    const asked = unanswered({ elicitation: () => new Promise(() => {}) }, form(AGE, { signal: abort.signal }));
    abort.abort();
    expect((await asked).reason).toBe("aborted");
    expect((await unanswered(accepting({ name: "Ada" }), form(AGE, { signal: abort.signal }))).reason).toBe("aborted");
  });

  test("a message from the server is one printable line in an error", () => {
    const params = { message: `\u001b[31mred\u001b[0m\n\u202eevil${"x".repeat(1000)}` };
    const text = questionText({ method: "elicitation/create", params });
    expect(text).toMatch(/^elicitation \("red evilx+…"\)$/);
  });
});
