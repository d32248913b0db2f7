/** Change notices: asked for, kept up after a drop, never asked for in vain for ever, one call for a burst. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { NoticeStream } from "../../runtime/connect/notice-stream.ts";
import { openConnection } from "../../runtime/connect/open.ts";
import { openTransport } from "../../runtime/connect/open-transport.ts";
import type { RequestOutcome } from "../../runtime/connect/session.ts";
import { type Listening, type NoticeFilter, oncePerBurst, Subscriptions } from "../../runtime/connect/subscriptions.ts";
import { eventually, serverConfig, stubFile, surroundings } from "../servers/run.ts";

/** A session that plays what the test gives it, the last over and over, and keeps what it was asked. */
class FakeSession {
  closed = false;
  readonly asked: NoticeFilter[] = [];
  readonly closes: NoticeFilter[] = [];
  readonly #plan: readonly Listening["kind"][];
  #drop = () => {};

  constructor(...plan: Listening["kind"][]) {
    this.#plan = plan;
  }

  async listen(filter: NoticeFilter): Promise<Listening> {
    const kind = this.#plan[Math.min(this.asked.length, this.#plan.length - 1)]!;
    this.asked.push(filter);
    if (kind !== "open") return { kind };
    const dropped = new Promise<void>((resolve) => {
      this.#drop = resolve;
    });
    return { kind, dropped, close: async () => void this.closes.push(filter) };
  }

  drop(): void {
    this.#drop();
  }
}

describe("the streams of a session", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function started(session: FakeSession) {
    const missed: string[] = [];
    const subscriptions = new Subscriptions({ onMissed: (method) => missed.push(method), random: () => 0.5 });
    subscriptions.attach(session);
    return { subscriptions, missed };
  }
  const turn = () => vi.advanceTimersByTimeAsync(0);

  test("wishes of one moment make one stream, another wish the next, none ends it", async () => {
    const session = new FakeSession("open");
    const { subscriptions, missed } = started(session);
    const stops = [
      subscriptions.want({ tools: true }),
      subscriptions.want({ tools: true, tasks: ["b", "a"] }),
      subscriptions.want({ prompts: true }),
    ];
    await turn();
    expect(session.asked).toEqual([{ tools: true, prompts: true, tasks: ["a", "b"] }]);
    stops[2]!();
    stops[2]!();
    await turn();
    expect(session.asked.slice(1)).toEqual([{ tools: true, tasks: ["a", "b"] }]);
    expect(session.closes).toHaveLength(1);
    // The same in other words asks for nothing new.
    subscriptions.want({ tasks: ["a"] });
    stops[0]!();
    await turn();
    expect(session.asked).toHaveLength(2);
    stops[1]!();
    await turn();
    expect(session.asked.slice(2)).toEqual([{ tasks: ["a"] }]);
    expect(session.closes).toHaveLength(2);
    expect(missed).toEqual([]);
  });

  test("a stream that drops is opened again, later each time, and what may have been missed is told", async () => {
    const session = new FakeSession("open");
    const { subscriptions, missed } = started(session);
    subscriptions.want({ tools: true, resources: true });
    await turn();
    for (const [index, pauseMs] of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000].entries()) {
      session.drop();
      await vi.advanceTimersByTimeAsync(pauseMs - 1);
      expect(session.asked).toHaveLength(index + 1);
      await vi.advanceTimersByTimeAsync(1);
      expect(session.asked).toHaveLength(index + 2);
    }
    expect(missed.slice(0, 2)).toEqual(["notifications/tools/list_changed", "notifications/resources/list_changed"]);
    expect(missed).toHaveLength(16);
    // One that held is no trouble: the next pause is short.
    await vi.advanceTimersByTimeAsync(60_000);
    session.drop();
    await vi.advanceTimersByTimeAsync(1000);
    expect(session.asked).toHaveLength(10);
  });

  test("a server that refuses is not asked again, until there is another session", async () => {
    const session = new FakeSession("refused");
    const { subscriptions, missed } = started(session);
    subscriptions.want({ tools: true });
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(session.asked).toHaveLength(1);
    const next = new FakeSession("refused");
    subscriptions.attach(next);
    await turn();
    expect(next.asked).toHaveLength(1);
    expect(missed).toEqual(["notifications/tools/list_changed"]);
  });

  test("one that never opens a stream is left alone in the end", async () => {
    const session = new FakeSession("failed");
    started(session).subscriptions.want({ tools: true });
    await vi.advanceTimersByTimeAsync(24 * 3_600_000);
    expect(session.asked).toHaveLength(6);
  });

  test("nothing is opened on a session that ended, nor after close", async () => {
    const [ended, closed] = [new FakeSession("open"), new FakeSession("open")];
    const [one, other] = [started(ended).subscriptions, started(closed).subscriptions];
    for (const subscriptions of [one, other]) subscriptions.want({ tools: true });
    await turn();
    ended.closed = true;
    ended.drop();
    closed.drop();
    other.close();
    other.want({ prompts: true });
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect([ended.asked.length, closed.asked.length]).toEqual([1, 1]);
  });

  test("an answer that comes when another wish has taken its place is closed", async () => {
    const session = new FakeSession("open");
    const { subscriptions } = started(session);
    let answer: (listening: Listening) => void = () => {};
    const listen = session.listen.bind(session);
    session.listen = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const stop = subscriptions.want({ tools: true });
    await turn();
    session.listen = listen;
    stop();
    subscriptions.want({ prompts: true });
    await turn();
    const close = vi.fn(async () => {});
    answer({ kind: "open", dropped: new Promise(() => {}), close });
    await turn();
    expect(close).toHaveBeenCalledOnce();
    expect([session.asked, session.closes]).toEqual([[{ prompts: true }], []]);
  });

  test("one call for a burst, and one after its last notice", async () => {
    let calls = 0;
    const { heard, stop } = oncePerBurst(() => calls++);
    for (let n = 0; n < 50; n++) heard();
    await vi.advanceTimersByTimeAsync(49);
    heard();
    expect(calls).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(calls).toBe(1);
    heard();
    await vi.advanceTimersByTimeAsync(1000);
    expect(calls).toBe(2);
    heard();
    stop();
    await vi.advanceTimersByTimeAsync(1000);
    expect(calls).toBe(2);
  });
});

test("the pace of a GET stream is not the server's alone", () => {
  const stream = new NoticeStream(true, () => 0);
  expect([0, 1, 2, 3, 20].map((attempt) => stream.pauseMs(0, attempt))).toEqual([250, 2000, 4000, 8000, 60_000]);
  expect(stream.pauseMs(5000, 0)).toBe(5000);
  expect(stream.pauseMs(1e9, 0)).toBe(60_000);
  expect(new NoticeStream(true, () => 1).pauseMs(1000, 0)).toBe(1250);
});

describe("a modern server", () => {
  type Sent = { id?: unknown; method?: string; params?: Record<string, unknown> };

  /** Speaks from the test: `say` sends to the client, `sent` is what it sent. */
  async function peer(capabilities: object, onListen: (say: (message: object) => void, request: Sent) => void) {
    const sent: Sent[] = [];
    const transport = {
      onmessage: undefined as ((message: unknown) => void) | undefined,
      start: async () => {},
      close: async () => {},
      async send(message: Sent) {
        sent.push(message);
        if (message.method === "subscriptions/listen") onListen(say, message);
      },
    };
    const say = (message: object) => transport.onmessage?.({ jsonrpc: "2.0", ...message });
    const opened = await openTransport("own", transport as never, { era: "modern" });
    if (!opened.ok) throw new Error(opened.diagnostic.message);
    // What a compiled verdict brings along.
    Object.assign(opened.connection.verdict, { capabilities });
    return { connection: opened.connection, sent, say };
  }
  const acknowledged = ({ id, params }: Sent) => ({
    method: "notifications/subscriptions/acknowledged",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": id }, notifications: params?.["notifications"] },
  });
  const listens = (sent: readonly Sent[]) => sent.filter(({ method }) => method === "subscriptions/listen");
  const everything = {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: {},
    extensions: { "io.modelcontextprotocol/tasks": {} },
  };

  test("is asked for what it can send, tasks included, and told when nobody listens any more", async () => {
    const { connection, sent, say } = await peer(everything, (answer, request) => answer(acknowledged(request)));
    const heard: string[] = [];
    connection.onNotification((method) => heard.push(method));
    const stop = connection.listenFor({ tools: true, prompts: true, resources: true, tasks: ["t1"] });
    await eventually(() => listens(sent).length > 0, "it is asked");
    const [request] = listens(sent);
    expect(request!.params).toMatchObject({
      notifications: { toolsListChanged: true, promptsListChanged: true, taskIds: ["t1"] },
      _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
    });
    expect(request!.params!["notifications"]).not.toHaveProperty("resourcesListChanged");
    say({ method: "notifications/tasks", params: { taskId: "t1", status: "working" } });
    expect(heard).toContain("notifications/tasks");
    stop();
    const told = () =>
      sent.some(({ method, params }) => method === "notifications/cancelled" && params?.["requestId"] === request!.id);
    await eventually(told, "it is told");
    await connection.close();
  });

  test("that ends the stream is asked again, and the change it made meanwhile is seen", async () => {
    const { connection, sent, say } = await peer(everything, (answer, request) => answer(acknowledged(request)));
    let changes = 0;
    connection.onToolsListChanged(() => changes++);
    await eventually(() => listens(sent).length === 1, "it is asked");
    say({ id: listens(sent)[0]!.id, result: { resultType: "complete" } });
    await eventually(() => listens(sent).length === 2, "it is asked again");
    await eventually(() => changes === 1, "what may have been missed is told");
    await connection.close();
  });

  test.each<[string, object, object]>([
    ["refuses", everything, { error: { code: -32601, message: "Method not found" } }],
    ["announces nothing", { tools: {} }, { error: { code: 0, message: "never asked" } }],
  ])("that %s is not asked again", async (_, capabilities, answer) => {
    const { connection, sent } = await peer(capabilities, (say, { id }) => say({ id, ...answer }));
    connection.onToolsListChanged(() => {});
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(listens(sent).length).toBeLessThanOrEqual(1);
    await connection.close();
  });
});

describe("a legacy server over HTTP that restarts", () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  async function serve(http: object): Promise<{ port: number; stop(): Promise<void> }> {
    const env = {
      ...process.env,
      STUB: JSON.stringify({ capabilities: { tools: { listChanged: true } }, http: { sessions: true, ...http } }),
    };
    const child = spawn(process.execPath, [join(stubFile)], { env, stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    const port = await new Promise<number>((resolve) => {
      child.stdout.once("data", (data: Buffer) => resolve(Number(/\d+/.exec(data.toString())![0])));
    });
    const stop = () =>
      new Promise<void>((resolve) => {
        child.once("exit", () => resolve());
        child.kill("SIGKILL");
      });
    return { port, stop };
  }

  test.each<[string, object]>([
    ["opens its stream for everybody", {}],
    ["has forgotten the session", { status: { GET: 404 } }],
  ])("and %s: listeners look for themselves, over a session that works", async (_, http) => {
    const before = await serve({});
    const config = serverConfig(
      { kind: "http", url: `http://127.0.0.1:${before.port}/mcp`, headers: {} },
      { protocolVersion: "legacy" },
    );
    const opened = await openConnection(config, { ...surroundings, listen: true });
    if (!opened.ok) throw new Error(opened.diagnostic.message);
    const { connection } = opened;
    let changes = 0;
    connection.onToolsListChanged(() => changes++);
    await before.stop();
    await serve({ ...http, port: before.port, sessionName: "later" });
    await eventually(() => changes > 0, "a change may have been missed", 15_000);
    const failure = (outcome: RequestOutcome) => (outcome.ok ? undefined : outcome.failure);
    expect(failure(await connection.request("tools/list"))).toBeUndefined();
    await connection.close();
  });
});
