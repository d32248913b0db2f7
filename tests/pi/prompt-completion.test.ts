/** Values for a prompt's arguments, from real servers through the runtime of a session. */
import { expect, test } from "vitest";
import { completeArgument } from "../../runtime/pi/prompts/complete-argument.ts";
import type { PiSession } from "../../runtime/pi/session.ts";
import { type PromptEntry, promptsOf } from "../../schemas/artifacts/prompts.ts";
import { Stub } from "../cli/pimcp.ts";
import { compiled, type Entry } from "../runtime/runtime-project.ts";
import { EVERYTHING } from "../servers/run.ts";

async function sessionOf(entry: Entry, prompt: string) {
  const runtime = await (await compiled({ s: entry })).runtime();
  const session = { runtime, signal: new AbortController().signal } as PiSession;
  const found = promptsOf(runtime.table).find((one) => one.prompt === prompt) as PromptEntry;
  return { found, complete: (typed: string) => completeArgument(session, found, typed) };
}

const valuesOf = (items: Awaited<ReturnType<typeof completeArgument>>) => items?.map(({ value }) => value) ?? null;

test("a real server completes, knowing what was given before", async () => {
  const { found, complete } = await sessionOf(EVERYTHING, "completable-prompt");
  expect(found.completes).toBe(true);
  expect(await complete("S")).toEqual([
    { value: "Sales", label: "Sales", description: "Choose the department." },
    { value: "Support", label: "Support", description: "Choose the department." },
  ]);
  expect(valuesOf(await complete("Sales "))).toEqual(["Sales David", "Sales Eve", "Sales Frank"]);
  expect(valuesOf(await complete("department=Marketing name=I"))).toEqual(["department=Marketing name=Iris"]);
  expect(await complete("Sales Eve ")).toBeNull();
  // Whole: a list would take the first Enter.
  expect(await complete("Sales Eve")).toBeNull();
  expect(await complete("Nowhere ")).toBeNull();
});

const PROMPTS = {
  capabilities: { tools: {}, prompts: {}, completions: {} },
  prompts: [{ name: "p", arguments: [{ name: "a" }] }],
};
const completion = (values: unknown) => ({ "completion/complete": { result: { completion: { values } } } });

test("each question is asked once; odd values are left out or quoted", async () => {
  const values = ["two words", "a\nb", 7, "two words", "\u001b[31mred", 'q"q', "tail\\ "];
  const stub = new Stub({ ...PROMPTS, replies: completion(values) });
  const { complete } = await sessionOf(stub.entry, "p");
  const items = await complete("t");
  expect(await complete("t")).toEqual(items);
  expect(valuesOf(items)).toEqual(['"two words"', '"q\\"q"', '"tail\\ "']);
  const asked = stub.log().filter(({ method }) => method === "completion/complete");
  expect(asked.map(({ params }) => params)).toEqual([
    { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "t" } },
  ]);
});

test("a server that fails has nothing to offer, and is asked again", async () => {
  const stub = new Stub({ ...PROMPTS, replies: { "completion/complete": { error: { code: -32603, message: "no" } } } });
  const { complete } = await sessionOf(stub.entry, "p");
  expect(await complete("t")).toBeNull();
  stub.set({ ...PROMPTS, replies: completion(["tea"]) });
  expect(valuesOf(await complete("t"))).toEqual(["tea"]);
});

test("a server that doesn't say that it completes is known not to", async () => {
  const stub = new Stub({ ...PROMPTS, capabilities: { tools: {}, prompts: {} } });
  expect((await sessionOf(stub.entry, "p")).found.completes).toBe(false);
});
