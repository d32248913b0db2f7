/**
 * What a task asks of its user, each question once in the life of the task, whoever follows it. An answer is written
 * to the handle before it is sent, and stays there until the server has taken it: killed in between, the next process
 * sends the same answer instead of asking again. Questions are put one at a time, while the task is watched further;
 * one that the task no longer waits for is withdrawn.
 */
import { digestOf } from "../../schemas/canonical.ts";
import { isRecord } from "../../schemas/record.ts";
import type { Question } from "../questions.ts";
import type { AnsweredQuestion } from "./handle-file.ts";

export interface QuestionsOptions {
  /** The questions answered so far, and a way to keep more of them. */
  readonly answers: () => readonly AnsweredQuestion[];
  readonly keep: (answers: readonly AnsweredQuestion[]) => Promise<void>;
  /** Rejects where there is no answer to be had. */
  readonly ask: (question: Pick<Question, "method" | "params" | "signal">) => Promise<Record<string, unknown>>;
  /** Something is to be sent, or went wrong. */
  readonly onChange: () => void;
}

/** A fault that ends the task: of the server, or that nobody here can answer. */
export interface QuestionProblem {
  readonly message: string;
  readonly cause?: unknown;
}

/** Keys in the life of one task. */
const MOST_QUESTIONS = 200;
/** Characters of a key, which is written to the handle with every answer. */
const LONGEST_KEY = 1000;
const METHODS: ReadonlySet<unknown> = new Set(["elicitation/create", "sampling/createMessage", "roots/list"]);

interface Asking {
  readonly question: string;
  readonly abort: AbortController;
}

export class TaskQuestions {
  readonly #options: QuestionsOptions;
  readonly #asking = new Map<string, Asking>();
  /** Answers that are on their way to the disk, and not to be sent before they are there. */
  readonly #unsaved = new Set<string>();
  /** The questions before; the next one waits for them. */
  #before: Promise<void> = Promise.resolve();
  #problem: QuestionProblem | undefined;
  #outstanding: ReadonlySet<string> = new Set();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  get problem(): QuestionProblem | undefined {
    return this.#problem;
  }

  /** Takes note of what the task waits for now: every outstanding question by its key. */
  observe(inputRequests: unknown): void {
    if (!isRecord(inputRequests)) {
      this.#fail("it waits for input and doesn't say for which");
      return;
    }
    const entries = Object.entries(inputRequests);
    this.#outstanding = new Set(entries.map(([key]) => key));
    if (new Set([...this.#options.answers().map(({ key }) => key), ...this.#outstanding]).size > MOST_QUESTIONS) {
      this.#fail(`it asks more than ${MOST_QUESTIONS} questions`);
      return;
    }
    this.#withdraw((key) => !this.#outstanding.has(key));
    for (const [key, request] of entries) this.#take(key, request);
  }

  /** The task waits for nothing, or is over. */
  idle(): void {
    this.#outstanding = new Set();
    this.#withdraw(() => true);
  }

  /** Answers that the server waits for and hasn't taken yet. */
  ready(): Record<string, unknown> | undefined {
    const isReady = ({ key, answer }: AnsweredQuestion) =>
      answer !== undefined && this.#outstanding.has(key) && !this.#unsaved.has(key);
    const waiting = this.#options.answers().filter(isReady);
    return waiting.length > 0 ? Object.fromEntries(waiting.map(({ key, answer }) => [key, answer])) : undefined;
  }

  /** The server has taken these. */
  async taken(keys: readonly string[]): Promise<void> {
    const kept = this.#options
      .answers()
      .map(({ key, question, answer }) =>
        answer && !keys.includes(key) ? { key, question, answer } : { key, question },
      );
    await this.#options.keep(kept);
  }

  /** The server would not have these: they may be asked for again, by the next who follows the task. */
  async refused(keys: readonly string[]): Promise<void> {
    await this.#options.keep(this.#options.answers().filter(({ key }) => !keys.includes(key)));
  }

  #take(key: string, request: unknown): void {
    if (key.length > LONGEST_KEY) {
      this.#fail(`a question of its has a key of ${key.length} characters`);
      return;
    }
    const question = fingerprint(request);
    if (question === undefined) {
      this.#fail(`its question "${key}" is nested too deeply`);
      return;
    }
    const known = this.#options.answers().find((one) => one.key === key)?.question ?? this.#asking.get(key)?.question;
    if (known === question) return;
    if (known !== undefined) {
      this.#fail(`it asks another question under the key "${key}" of an earlier one`);
      return;
    }
    const params = isRecord(request) ? (request["params"] ?? {}) : undefined;
    if (!isRecord(request) || !METHODS.has(request["method"]) || !isRecord(params)) {
      this.#fail(`its question "${key}" is nothing a client can be asked`);
      return;
    }
    const abort = new AbortController();
    this.#asking.set(key, { question, abort });
    const asked = { method: request["method"] as Question["method"], params, signal: abort.signal };
    this.#before = this.#before.then(() => this.#put(key, question, asked));
  }

  async #put(key: string, question: string, asked: Parameters<QuestionsOptions["ask"]>[0]): Promise<void> {
    if (asked.signal?.aborted) return;
    try {
      const answer = await this.#options.ask(asked);
      if (asked.signal?.aborted) return;
      this.#unsaved.add(key);
      await this.#options.keep([...this.#options.answers(), { key, question, answer }]);
      this.#unsaved.delete(key);
    } catch (error) {
      if (asked.signal?.aborted) return;
      this.#fail(`nobody could answer it: ${error instanceof Error ? error.message : String(error)}`, error);
    } finally {
      if (this.#asking.get(key)?.question === question) this.#asking.delete(key);
    }
    this.#options.onChange();
  }

  #withdraw(isMoot: (key: string) => boolean): void {
    for (const [key, { abort }] of this.#asking) {
      if (!isMoot(key)) continue;
      abort.abort();
      this.#asking.delete(key);
    }
  }

  #fail(message: string, cause?: unknown): void {
    this.#problem ??= { message, ...(cause !== undefined && { cause }) };
  }
}

function fingerprint(request: unknown): string | undefined {
  try {
    return digestOf(request ?? null);
  } catch (error) {
    // So deep that no recursion gets through it.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
