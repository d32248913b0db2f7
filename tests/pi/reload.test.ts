/** A session that takes over what was compiled anew: in order, and without harm when it ends meanwhile. */
import { expect, test } from "vitest";
import { AfterFirstRequest } from "../../runtime/pi/after-first-request.ts";
import { inBackground } from "../../runtime/pi/in-background.ts";
import type { Loadout } from "../../runtime/pi/loadout.ts";
import { ArtifactSession, type SessionOptions } from "../../runtime/pi/session.ts";
import { diagnostic } from "../../schemas/diagnostic.ts";

interface Opened extends Loadout {
  readonly closed: () => boolean;
}

/** Artifacts without a server in them. */
function loadout(): Opened {
  let isClosed = false;
  const table = { tools: () => [], servers: () => [], folder: () => undefined };
  const runtime = {
    table,
    onStatus: () => () => undefined,
    retire: async () => undefined,
    close: async () => {
      isClosed = true;
    },
  };
  const registrations = { key: "[]", servers: [], disabled: [], overridden: [], diagnostics: [] };
  const made = { cwd: "/", project: false, files: { candidates: [] }, env: {}, runtime, registrations };
  return Object.assign(made as unknown as Loadout, { closed: () => isClosed });
}

function session(reopen: () => Promise<Loadout>, first = loadout(), register: SessionOptions["register"] = () => []) {
  const told: string[] = [];
  const options = {
    pi: {},
    ctx: { hasUI: true, ui: { notify: (text: string) => void told.push(text) } },
    loadout: first,
    registrationOverrides: new Map(),
    notices: [],
    reopen,
    register,
  };
  return { session: new ArtifactSession(options as unknown as SessionOptions), told };
}

test("of two reloads at once the later one counts, however long the first takes", async () => {
  const [older, newer] = [loadout(), loadout()];
  let finish = (_: Loadout): void => undefined;
  const slow = new Promise<Loadout>((resolve) => {
    finish = resolve;
  });
  const answers = [slow, Promise.resolve(newer)];
  const { session: one } = session(() => answers.shift()!);
  const both = [one.reload(), one.reload()];
  await Promise.resolve();
  finish(older);
  await Promise.all(both);
  expect(one.runtime).toBe(newer.runtime);
  await one.close();
  expect([older.closed(), newer.closed()]).toEqual([true, true]);
});

test("one that fails is told to whoever asked for it, and the next works", async () => {
  const next = loadout();
  const answers = [Promise.reject(new Error("torn")), Promise.resolve(next)];
  const { session: one } = session(() => answers.shift()!);
  await expect(one.reload()).rejects.toThrow("torn");
  await one.reload();
  expect(one.runtime).toBe(next.runtime);
});

test("a session that ends while it reloads keeps nothing open and throws nothing", async () => {
  const late = loadout();
  let ended: ArtifactSession | undefined;
  const ends = (outcome: () => Loadout) => async () => {
    await ended!.close();
    return outcome();
  };
  const first = session(ends(() => late));
  ended = first.session;
  await ended.reload();
  expect(late.closed()).toBe(true);
  // Pi answers a session that has ended with an error.
  const second = session(
    ends(() => {
      throw new Error("stale");
    }),
  );
  ended = second.session;
  await ended.reload();
  expect([...first.told, ...second.told]).toEqual([]);
});

test("what goes wrong in the background is told while there is somebody to be told, and never thrown", async () => {
  const { session: one, told } = session(async () => loadout());
  const fail = async () => {
    throw new Error("no");
  };
  inBackground(one, "work", fail);
  await Promise.resolve();
  expect(told).toEqual(["work: no"]);
  await one.close();
  inBackground(one, "late work", fail);
  await Promise.resolve();
  expect(told).toEqual(["work: no"]);
});

test("tools that can't be registered later are told of and end nothing", async () => {
  const register = () => {
    throw new Error("no such exposure");
  };
  const { session: one, told } = session(async () => loadout(), loadout(), register);
  one.complete();
  await Promise.resolve();
  expect(told).toEqual(["MCP tools that are found by search can't be registered: no such exposure"]);
});

test("a session that ended while it began leaves the quiet work of the next one alone", async () => {
  let answers: (event: object) => void = () => undefined;
  const quiet = new AfterFirstRequest({
    on: (_: string, listener: typeof answers) => {
      answers = listener;
    },
  } as never);
  const [ended, next] = [session(async () => loadout()).session, session(async () => loadout()).session];
  await ended.close();
  const done: string[] = [];
  quiet.run(next, () => done.push("next"));
  quiet.run(ended, () => done.push("ended"));
  answers({ message: { role: "assistant" } });
  expect(done).toEqual(["next"]);
  await next.close();
});

test("of many notices the latest are kept", () => {
  const { session: one } = session(async () => loadout());
  for (let n = 0; n < 500; n++) one.notice(diagnostic("call-notice", `notice ${n}`, { severity: "info" }));
  expect(one.notices).toHaveLength(200);
  expect(one.notices.at(-1)?.message).toBe("notice 499");
  expect(one.notices[0]?.message).toBe("notice 300");
});
