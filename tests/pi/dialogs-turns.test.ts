/** Dialogs of a real Pi that come together or whose question goes away: one at a time, each for as long as it is wanted. */
import { expect, test } from "vitest";
import { eventually } from "../servers/run.ts";
import { Asking, resultOf, TEST_MS } from "./asking.ts";
import { textOf } from "./pi.ts";
import { RpcPi } from "./rpc.ts";

test("questions that come together are asked one after the other, each once", { timeout: TEST_MS }, async () => {
  const asking = await Asking.compiled();
  const pi = asking.pi([["pair"]]);
  for (const [message, name] of [
    ["First?", "Ann"],
    ["Second?", "Ben"],
  ] as const) {
    expect((await pi.answer("Answer")).title).toContain(message);
    await pi.answer(name);
    await pi.answer("Send");
  }
  expect(await resultOf(pi)).toEqual([
    { action: "accept", content: { name: "Ann" } },
    { action: "accept", content: { name: "Ben" } },
  ]);
  await pi.settled();
  expect(pi.dialogs()).toHaveLength(6);
});

test("the question of a call that is aborted goes away, and the next one is asked", {
  timeout: TEST_MS,
}, async () => {
  const asking = await Asking.compiled();
  const pi = new RpcPi(asking.workspace, { answers: asking.answers([["greet"], ["greet"]]) });
  pi.prompt();
  const first = await pi.dialog();
  pi.send({ type: "abort" });
  expect(await pi.tool()).toMatchObject({ isError: true });
  await eventually(() => pi.notices().length > 0, "a notice");
  expect(pi.notices()).toEqual(['Server "asking" no longer waits for an answer.']);
  await pi.settled();
  pi.reply(first, "Answer");
  pi.prompt("again");
  await pi.answer("Answer");
  await pi.answer("Cy");
  await pi.answer("Send");
  expect(textOf(await pi.tool(1))).toBe("hello Cy");
});

test("a question ends with its session, and the next session asks its own", { timeout: TEST_MS }, async () => {
  const asking = await Asking.compiled();
  const pi = asking.pi([["greet"], ["greet"]]);
  await pi.dialog();
  expect(await pi.ask({ type: "new_session" })).toMatchObject({ success: true });
  pi.prompt("again");
  await pi.answer("Answer");
  await pi.answer("Dee");
  await pi.answer("Send");
  expect(textOf(await pi.tool(1))).toBe("hello Dee");
  const { code, stderr } = await pi.end();
  expect([code, stderr]).toEqual([0, ""]);
});
