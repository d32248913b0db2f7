/**
 * Resources and prompts of servers: listed, read and completed over the shared connections. A server that is hidden by
 * its own `exposure` is out of reach here too. Results are what the server sent, as far as it is what their types say;
 * reading and listing may be sent twice, since both change nothing.
 */
import type { ToolTable } from "../schemas/artifacts/tool-table.ts";
import type { Connections } from "./connections.ts";
import { contentsIn, promptIn, promptResultIn, resourceIn, templateIn } from "./content-shapes.ts";
import { RefusedError, ServerError } from "./errors.ts";
import type { Gate } from "./gate.ts";

export interface Resource {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Bytes. */
  size?: number;
  [key: string]: unknown;
}

export interface ResourceTemplate {
  /** RFC 6570. */
  uriTemplate: string;
  name: string;
  description?: string;
  mimeType?: string;
  [key: string]: unknown;
}

/** `text`, or `blob` in base64. */
export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
  [key: string]: unknown;
}

export interface Prompt {
  name: string;
  title?: string;
  description?: string;
  arguments?: { name: string; description?: string; required?: boolean }[];
  [key: string]: unknown;
}

export interface PromptResult {
  description?: string;
  messages: { role: "user" | "assistant"; content: { type: string; [key: string]: unknown } }[];
  [key: string]: unknown;
}

/** What an argument is completed for. */
export type CompletionSubject =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string };

export interface Completion {
  values: string[];
  total?: number;
  hasMore?: boolean;
}

export interface ReadOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** Pages of one list at most: a server whose cursor never ends doesn't keep us. */
const MAX_PAGES = 1000;

export class Resources {
  readonly #table: ToolTable;
  readonly #gate: Gate;
  readonly #connections: Connections;

  constructor(table: ToolTable, gate: Gate, connections: Connections) {
    this.#table = table;
    this.#gate = gate;
    this.#connections = connections;
  }

  /** Every page. Methods reject with `RefusedError` for an unknown server and with `ServerError` otherwise. */
  list(server: string, options?: ReadOptions): Promise<Resource[]> {
    return this.#all(server, "resources/list", "resources", resourceIn, options);
  }

  templates(server: string, options?: ReadOptions): Promise<ResourceTemplate[]> {
    return this.#all(server, "resources/templates/list", "resourceTemplates", templateIn, options);
  }

  async read(server: string, uri: string, options?: ReadOptions): Promise<ResourceContents[]> {
    const result = await this.#request(server, "resources/read", { uri }, options);
    return listOf(server, result, "contents", "resources/read").map((item) => {
      const contents = contentsIn(item, uri);
      if (contents === undefined) throw malformed(server, "resources/read");
      return contents;
    });
  }

  prompts(server: string, options?: ReadOptions): Promise<Prompt[]> {
    return this.#all(server, "prompts/list", "prompts", promptIn, options);
  }

  async prompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    options?: ReadOptions,
  ): Promise<PromptResult> {
    const result = await this.#request(server, "prompts/get", { name, arguments: args }, options);
    const prompt = promptResultIn(result);
    if (prompt === undefined) throw malformed(server, "prompts/get");
    return prompt;
  }

  /** `argument` is the one being typed; `context` holds those already given. */
  async complete(
    server: string,
    subject: CompletionSubject,
    argument: { readonly name: string; readonly value: string },
    context?: Readonly<Record<string, string>>,
    options?: ReadOptions,
  ): Promise<Completion> {
    const params = { ref: subject, argument, ...(context && { context: { arguments: context } }) };
    const { completion } = await this.#request(server, "completion/complete", params, options);
    const values = (completion as { values?: unknown } | undefined)?.values;
    if (!Array.isArray(values)) throw malformed(server, "completion/complete");
    return { ...(completion as Completion), values: values.filter((value) => typeof value === "string") };
  }

  async #all<T>(
    server: string,
    method: string,
    member: string,
    entryIn: (item: unknown) => T | undefined,
    options?: ReadOptions,
  ): Promise<T[]> {
    const found: T[] = [];
    const cursors = new Set<string>();
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const cursor = [...cursors].at(-1);
      const result = await this.#request(server, method, cursor === undefined ? undefined : { cursor }, options);
      for (const item of listOf(server, result, member, method)) {
        const entry = entryIn(item);
        if (entry !== undefined) found.push(entry);
      }
      const next = result["nextCursor"];
      if (typeof next !== "string" || next === "" || cursors.has(next)) break;
      cursors.add(next);
    }
    return found;
  }

  async #request(
    server: string,
    method: string,
    params: Record<string, unknown> | undefined,
    options: ReadOptions = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    this.#gate.contents(server, method);
    this.#refuseMissing(server, method);
    return this.#connections.request(server, method, params, options);
  }

  /** A server that had none when it was compiled isn't started to say so. */
  #refuseMissing(server: string, method: string): void {
    const kind = method.startsWith("resources/") ? "resources" : method.startsWith("prompts/") ? "prompts" : undefined;
    const definition = this.#table.serverDefinition(server);
    if (!kind || !definition.ok || definition.value?.[kind] !== false) return;
    throw new RefusedError(`server "${server}" had no ${kind} when it was compiled`, {
      server,
      tool: method,
      reason: "not-offered",
    });
  }
}

function listOf(server: string, result: Readonly<Record<string, unknown>>, member: string, method: string): unknown[] {
  const list = result[member];
  if (!Array.isArray(list)) throw malformed(server, method);
  return list;
}

function malformed(server: string, method: string): ServerError {
  return new ServerError(`server "${server}" answered ${method} with something else`, { server });
}
