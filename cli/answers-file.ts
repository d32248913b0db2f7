/**
 * `--answers FILE`: what servers are told when they ask, for runs without a person. An answer is taken for the first
 * question that it fits, and used once unless it says `"repeat": true`; what was never used is reported. Mistakes in
 * the file are reported at their places, all of them, before anything is called. What an answer says is never
 * printed: it may be a secret. The file is parsed by jsonc-parser, so this module is imported lazily.
 */
import { readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import type { QuestionContext } from "../runtime/client-features.ts";
import { fitContent } from "../runtime/questions/form-content.ts";
import { FieldReader, type Report, reporter } from "../schemas/config/fields.ts";
import type { SourceLocation } from "../schemas/config/server-config.ts";
import { type ConfigNode, parseConfigSource, plainValue } from "../schemas/config/source.ts";
import { type Diagnostic, diagnostic } from "../schemas/diagnostic.ts";
import { matchesPattern } from "../schemas/exposure.ts";

type Params = Readonly<Record<string, unknown>>;
type Result = Record<string, unknown>;
export interface Root {
  readonly uri: string;
  readonly name?: string;
}

/** One answer and the questions it is for: each pattern that is given must match, `*` stands for any text. */
interface Answer {
  readonly at: SourceLocation;
  readonly message?: string | undefined;
  readonly url?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly repeat: boolean;
  readonly result: Result;
}

/** The answers of one run. */
export class Answers {
  /** Whether the file has answers of these kinds, so that they can be advertised. */
  readonly hasSampling: boolean;
  readonly roots: readonly Root[] | undefined;
  readonly #elicitation: readonly Answer[];
  readonly #sampling: readonly Answer[];
  readonly #used = new Set<Answer>();

  constructor(found: {
    readonly elicitation: readonly Answer[];
    readonly sampling: readonly Answer[] | undefined;
    readonly roots: readonly Root[] | undefined;
  }) {
    this.#elicitation = found.elicitation;
    this.#sampling = found.sampling ?? [];
    this.hasSampling = found.sampling !== undefined;
    this.roots = found.roots;
  }

  /** Nothing where no answer is left for it. Rejects with the place of one that doesn't fit the form. */
  async elicitation(params: Params, context: QuestionContext): Promise<Result | undefined> {
    const answer = this.#take(this.#elicitation, params, context);
    if (answer === undefined || params["mode"] === "url" || answer.result["action"] !== "accept") return answer?.result;
    const fitted = await fitContent(params["requestedSchema"], answer.result["content"]);
    if (fitted.ok || fitted.blame === "schema") return answer.result;
    const { file, line, column } = answer.at;
    throw new Error(`the answer at ${file}:${line}:${column} doesn't fit: ${fitted.errors.join("; ")}`);
  }

  sampling(params: Params, context: QuestionContext): Result | undefined {
    return this.#take(this.#sampling, params, context)?.result;
  }

  /** A remark for each answer that no question came for. */
  unused(): Diagnostic[] {
    return [...this.#elicitation, ...this.#sampling]
      .filter((answer) => !this.#used.has(answer))
      .map(({ at }) => diagnostic("answer-unused", "no server asked what this answers", { ...at }));
  }

  #take(answers: readonly Answer[], params: Params, context: QuestionContext): Answer | undefined {
    const found = answers.find((one) => (one.repeat || !this.#used.has(one)) && isFor(one, params, context));
    if (found) this.#used.add(found);
    return found;
  }
}

/** An answer with a `url` is for visits alone, any other for forms and completions. */
function isFor(answer: Answer, params: Params, { server, tool }: QuestionContext): boolean {
  if ((params["mode"] === "url") !== (answer.url !== undefined)) return false;
  const wanted: readonly (readonly [pattern: string | undefined, value: unknown])[] = [
    [answer.message, params["message"]],
    [answer.url, params["url"]],
    [answer.server, server],
    [answer.tool, tool],
  ];
  return wanted.every(
    ([pattern, value]) => pattern === undefined || (typeof value === "string" && matchesPattern(pattern, value)),
  );
}

/** Reads a file; without `answers` when it can't be used. */
export async function readAnswersFile(
  path: string,
  cwd: string,
): Promise<{ readonly answers?: Answers; readonly diagnostics: readonly Diagnostic[] }> {
  const file = resolve(cwd, path);
  const shown = relative(cwd, file).startsWith("..") ? file : relative(cwd, file) || path;
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? "unknown error";
    return { diagnostics: [diagnostic("config-unreadable", `the answers can't be read (${why})`, { file: shown })] };
  }
  return parseAnswers(text, shown);
}

/** `shown` is the file's name in messages. */
export function parseAnswers(
  text: string,
  shown: string,
): { readonly answers?: Answers; readonly diagnostics: readonly Diagnostic[] } {
  const source = parseConfigSource(text, shown);
  const diagnostics = [...source.diagnostics];
  if (source.root === undefined) return { diagnostics };
  const report = reporter(diagnostics);
  if (source.root.kind !== "object") {
    report("config-shape", `answers are an object such as ${SHAPE}`, source.root.at);
    return { diagnostics };
  }
  const top = new FieldReader(source.root, report);
  top.warnUnknown(["$schema", "elicitation", "sampling", "roots"]);
  const elicitation = entriesOf(top, "elicitation").map((node) => readElicitation(node, report));
  const sampling = top.has("sampling")
    ? entriesOf(top, "sampling").map((node) => readSampling(node, report))
    : undefined;
  const roots = top.has("roots") ? entriesOf(top, "roots").map((node) => readRoot(node, report)) : undefined;
  if (diagnostics.some(({ severity }) => severity === "error")) return { diagnostics };
  return {
    answers: new Answers({
      elicitation: present(elicitation),
      sampling: sampling && present(sampling),
      roots: roots && present(roots),
    }),
    diagnostics,
  };
}

const SHAPE = '{ "elicitation": [{ "action": "accept", "content": { "name": "Ada" } }] }';

function present<T>(items: readonly (T | undefined)[]): T[] {
  return items.filter((item) => item !== undefined);
}

function entriesOf(top: FieldReader, key: string): readonly ConfigNode[] {
  const node = top.value(key);
  if (node === undefined) return [];
  if (node.kind === "array") return node.items;
  top.reject(key, "must be a list");
  return [];
}

const ACTIONS = ["accept", "decline", "cancel"] as const;
const MATCHERS = ["message", "server", "tool", "repeat"];

function readElicitation(node: ConfigNode, report: Report): Answer | undefined {
  const fields = entry(node, report, "an elicitation answer", [...MATCHERS, "url", "action", "content"]);
  if (fields === undefined) return undefined;
  const action = fields.oneOf("action", ACTIONS);
  if (!fields.has("action")) fields.rejectAt(node.at, `action is missing: ${ACTIONS.join(", ")}`);
  const content = fields.value("content");
  if (content !== undefined && content.kind !== "object")
    fields.reject("content", "must be an object, a value a field");
  if (content !== undefined && action !== undefined && action !== "accept") {
    fields.warnNoEffect("content", `with "${action}"`);
  }
  if (content !== undefined && fields.has("url")) fields.warnNoEffect("content", "with a url");
  const result = { action, ...(content && action === "accept" && { content: plainValue(content) }) };
  return { ...matchers(fields), url: fields.string("url"), at: node.at, result };
}

function readSampling(node: ConfigNode, report: Report): Answer | undefined {
  const fields = entry(node, report, "a sampling answer", ["server", "tool", "repeat", "text", "result"]);
  if (fields === undefined) return undefined;
  const text = fields.string("text");
  const result = fields.value("result");
  if (result !== undefined && result.kind !== "object") fields.reject("result", "must be a CreateMessageResult");
  if (fields.has("text") === fields.has("result")) fields.rejectAt(node.at, "give either text or result");
  const plain = { model: "answers-file", role: "assistant", content: { type: "text", text }, stopReason: "endTurn" };
  return { ...matchers(fields), at: node.at, result: result ? (plainValue(result) as Result) : plain };
}

function readRoot(node: ConfigNode, report: Report): Root | undefined {
  const fields = entry(node, report, "a root", ["uri", "name"]);
  if (fields === undefined) return undefined;
  const isFile = (uri: string) => URL.canParse(uri) && new URL(uri).protocol === "file:";
  const uri = fields.string("uri", "be a file: URI such as file:///home/ada/project", isFile);
  if (!fields.has("uri")) fields.rejectAt(node.at, "uri is missing");
  const name = fields.string("name");
  return uri === undefined ? undefined : { uri, ...(name !== undefined && { name }) };
}

function entry(node: ConfigNode, report: Report, what: string, known: readonly string[]): FieldReader | undefined {
  if (node.kind !== "object") {
    report("invalid-value", `${what} must be an object`, node.at);
    return undefined;
  }
  const fields = new FieldReader(node, report);
  fields.warnUnknown(known);
  return fields;
}

function matchers(fields: FieldReader): Pick<Answer, "message" | "server" | "tool" | "repeat"> {
  return {
    message: fields.string("message"),
    server: fields.string("server"),
    tool: fields.string("tool"),
    repeat: fields.boolean("repeat") ?? false,
  };
}
