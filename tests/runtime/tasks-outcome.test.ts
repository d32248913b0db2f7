/** What a caller reads at the end of a task. */
import { expect, test } from "vitest";
import type { Connections } from "../../runtime/connections.ts";
import { taskEnd } from "../../runtime/tasks/task-outcome.ts";
import { closingFailure } from "../../runtime/tasks/task-peer.ts";
import { handleOf } from "./tasks-following.ts";

test.each<[string, string, string]>([
  ["an id", "786c2b1e-9f00", "`pimcp tasks resume 786c2b1e-9f00`"],
  ["a short one", "7", "`pimcp tasks resume 7`"],
  ["a long one, by its beginning", "t".repeat(500), `\`pimcp tasks resume ${"t".repeat(80)}\``],
  ["one with a command in it, by what is before", "task1;rm -rf ~", "`pimcp tasks resume task1`"],
  ["one that is a command", "$(rm -rf ~)", "`pimcp tasks resume`"],
  ["one that is an option", "--config=x", "`pimcp tasks resume`"],
])("a command to paste holds nothing of the server's that a shell would run: %s", async (_, taskId, command) => {
  const connections = {} as Connections;
  const end = await taskEnd({ kind: "left", failure: closingFailure("s") }, handleOf({ taskId }), connections);
  expect(end).toMatchObject({ over: false, error: { message: expect.stringContaining(`${command} goes on with it`) } });
});
