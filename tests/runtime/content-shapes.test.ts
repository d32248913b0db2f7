/** Answers about resources and prompts that are not what they should be: nothing breaks, and nothing is made up. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { contentsIn, promptIn, promptResultIn, resourceIn, templateIn } from "../../runtime/content-shapes.ts";

test.each<[string, unknown, unknown]>([
  [
    "a resource",
    resourceIn({ uri: "x:1", name: "One", size: 5, _meta: { a: 1 } }),
    { uri: "x:1", name: "One", size: 5, _meta: { a: 1 } },
  ],
  ["a resource without a name", resourceIn({ uri: "x:1" }), { uri: "x:1", name: "x:1" }],
  ["members of wrong types", resourceIn({ uri: "x:1", name: 5, title: null, size: "5" }), { uri: "x:1", name: "x:1" }],
  ["a resource without an address", resourceIn({ name: "One" }), undefined],
  ["no resource", resourceIn(null), undefined],
  ["a template", templateIn({ uriTemplate: "x:{n}", name: "N" }), { uriTemplate: "x:{n}", name: "N" }],
  ["a template of a wrong type", templateIn({ uriTemplate: 5 }), undefined],
  [
    "a prompt",
    promptIn({
      name: "p",
      arguments: [{ name: "a", required: true }, null, { name: 5 }, { name: "b", required: "yes" }],
    }),
    { name: "p", arguments: [{ name: "a", required: true }, { name: "b" }] },
  ],
  ["a prompt whose arguments are none", promptIn({ name: "p", arguments: "x" }), { name: "p" }],
  ["text", contentsIn({ text: "t", mimeType: 5 }, "x:1"), { uri: "x:1", text: "t" }],
  ["binary contents", contentsIn({ uri: "x:2", blob: "AA==", text: null }, "x:1"), { uri: "x:2", blob: "AA==" }],
  ["contents of nothing", contentsIn({ uri: "x:1" }, "x:1"), undefined],
  ["no contents", contentsIn(null, "x:1"), undefined],
  ["no messages", promptResultIn({}), undefined],
  ["a message without content", promptResultIn({ messages: [{ role: "user" }] }), undefined],
  ["a text without text", promptResultIn({ messages: [{ role: "user", content: { type: "text" } }] }), undefined],
  [
    "messages",
    promptResultIn({ description: 5, messages: [{ role: "user", content: { type: "image", data: "" } }] }),
    { messages: [{ role: "user", content: { type: "image", data: "" } }] },
  ],
])("%s", (_, found, wanted) => {
  expect(found).toEqual(wanted);
});

test("whatever a server says, what is taken can be used", () => {
  const near = fc.record(
    {
      uri: fc.jsonValue(),
      name: fc.jsonValue(),
      arguments: fc.jsonValue(),
      text: fc.jsonValue(),
      blob: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), near), (value) => {
      const resource = resourceIn(value);
      if (resource) expect([typeof resource.uri, typeof resource.name]).toEqual(["string", "string"]);
      const prompt = promptIn(value);
      for (const { name } of prompt?.arguments ?? []) expect(typeof name).toBe("string");
      const contents = contentsIn(value, "x:1");
      if (contents) expect(typeof (contents.text ?? contents.blob)).toBe("string");
    }),
  );
});
