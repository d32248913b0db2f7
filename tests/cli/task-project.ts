/** A project with the server of tests/servers/tasks.mjs, and calls of it at the command line that are killed at a certain step. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { compiled, type RuntimeProject, script } from "../runtime/runtime-project.ts";
import { scratchFolder } from "../scratch.ts";
import { eventually, readLog } from "../servers/run.ts";
import { DIST, type Running } from "./pimcp.ts";

export const ERAS = ["modern", "legacy"] as const;

export class TaskProject {
  readonly work: RuntimeProject;
  readonly log: string;
  readonly store: string;

  constructor(work: RuntimeProject, folder: string) {
    this.work = work;
    this.log = join(folder, "log");
    this.store = join(folder, "store");
  }

  static async make(
    era: (typeof ERAS)[number] = "modern",
    env: Record<string, string> = {},
    entry = {},
  ): Promise<TaskProject> {
    const folder = scratchFolder();
    const variables = { ERA: era, TASKS_STORE: join(folder, "store"), TASKS_LOG: join(folder, "log"), ...env };
    const work = await compiled({ t: { ...script("tasks.mjs", variables), ...entry } });
    return new TaskProject(work, folder);
  }

  /** `pimcp call t run` with this plan. */
  call(plan: object, ...more: string[]): Running {
    return this.work.start(["call", "t", "run", "--json", "--args", JSON.stringify({ plan }), ...more]);
  }

  /** A program of a user's that has `runtime` and the `entry` of `run`. */
  program(code: string, handlers = ""): Running {
    const start = `
      import { createRuntime } from ${JSON.stringify(join(DIST, "runtime", "index.js"))};
      const runtime = await createRuntime({ handlers: { ${handlers} } });
      const entry = runtime.table.byTool("t", "run");
    `;
    this.work.write("program.mjs", start + code);
    return this.work.start([], { program: join(this.work.root, "program.mjs") });
  }

  /** Messages of this method that the server got. */
  count(method: string): number {
    return readLog(this.log).filter((entry) => entry.method === method).length;
  }

  get folder(): string {
    return join(this.work.root, "home", ".local", "state", "pimcp", "tasks");
  }

  handles(): string[] {
    return existsSync(this.folder) ? readdirSync(this.folder).filter((name) => name.endsWith(".json")) : [];
  }

  handle() {
    return JSON.parse(readFileSync(join(this.folder, this.handles()[0]!), "utf8"));
  }

  async tasks(...args: string[]) {
    const { code, stdout, stderr } = await this.work.run("tasks", ...args, "--json");
    return { code, stderr, json: stdout === "" ? undefined : JSON.parse(stdout) };
  }

  /** Starts a call and kills it once `step` has come. */
  async killedWhen(step: () => boolean, plan: object, ...more: string[]): Promise<void> {
    const running = this.call(plan, ...more);
    await eventually(step, "the step came", 30_000);
    running.child.kill("SIGKILL");
    expect((await running.finished).code).toBe("SIGKILL");
  }

  async theTask(): Promise<string> {
    const { json } = await this.tasks("list");
    expect(json.tasks).toHaveLength(1);
    return json.tasks[0].taskId;
  }
}

export const QUESTION = {
  method: "elicitation/create",
  params: { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
};
/** The `--answers` that answer it. */
export const answers = (work: RuntimeProject) => {
  work.write("answers.json", { elicitation: [{ message: "Who?", action: "accept", content: { name: "Ada" } }] });
  return ["--answers", join(work.root, "answers.json")];
};
