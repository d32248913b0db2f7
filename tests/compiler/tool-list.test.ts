import { expect, test } from "vitest";
import { defineTool, toolListDigest } from "../../schemas/tool-list.ts";

const list = (...entries: { name: string; [key: string]: unknown }[]) =>
  toolListDigest(entries.map((entry) => defineTool(entry).definition));

test("the order of tools, keys and required properties is no part of a list", () => {
  const a = { name: "a", description: "x", inputSchema: { type: "object", required: ["p", "q"] } };
  const shuffled = { inputSchema: { required: ["q", "p"], type: "object" }, description: "x", name: "a" };
  expect(list(a, { name: "b" })).toBe(list({ name: "b" }, shuffled));
});

test.each([
  ["a description", { description: "y" }],
  ["a schema", { inputSchema: { type: "object", required: ["p"] } }],
  ["the order of an enumeration", { inputSchema: { enum: ["b", "a"] } }],
  ["the order in a default value", { inputSchema: { default: { required: ["b", "a"] } } }],
  ["annotations", { annotations: { readOnlyHint: true } }],
  ["_meta", { _meta: { a: 1 } }],
])("%s is part of it", (_, change) => {
  const before = { name: "a", description: "x", inputSchema: { type: "object" } };
  const plain = { inputSchema: { enum: ["a", "b"], default: { required: ["a", "b"] } } };
  expect(list({ ...before, ...change })).not.toBe(list({ ...before, ...("inputSchema" in change ? plain : {}) }));
});

test("keys that nobody specified, and members of the wrong kind, are left out", () => {
  const { definition, illTyped } = defineTool({ name: "a", id: 7, httpMethod: "GET", title: 5, inputSchema: true });
  expect(definition).toEqual({ tool: "a", inputSchema: true });
  expect(illTyped).toEqual([{ member: "title", expected: "a string" }]);
});
