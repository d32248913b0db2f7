/**
 * Reads the fields of one object of a configuration file, checking each against what it must be. Every
 * mistake is reported at its place; reading goes on, so one run shows them all. Messages name the
 * field and what it should hold, and never show what it holds (it may be a secret), except for
 * fields that choose from a list.
 */
import { type Diagnostic, type DiagnosticCode, diagnostic } from "../diagnostic.ts";
import { nearest } from "../nearest.ts";
import { quoted } from "./quote.ts";
import type { SourceLocation } from "./server-config.ts";
import type { ConfigNode, ConfigObject } from "./source.ts";

export type Report = (
  code: DiagnosticCode,
  message: string,
  at: SourceLocation,
  notes?: readonly (string | undefined)[],
) => void;

/** Collects into `diagnostics`; all of them concern `server`, where one is given. */
export function reporter(diagnostics: Diagnostic[], server?: string): Report {
  return (code, message, at, notes = []) => {
    const present = notes.filter((note) => note !== undefined);
    const { file, line, column } = at;
    diagnostics.push(diagnostic(code, message, { file, line, column, server, notes: present }));
  };
}

/** Keys that other clients use, and what to write instead. */
const FOREIGN_KEYS = new Map([
  ["disabled", 'write "enabled": false to turn a server off'],
  ["servers", 'did you mean "mcpServers"?'],
  ["mcp_servers", 'did you mean "mcpServers"?'],
  ["environment", 'did you mean "env"?'],
  ["transport", 'did you mean "type"?'],
  ["timeoutMs", 'did you mean "requestTimeoutMs"? "timeout" is in seconds'],
  ["httpUrl", 'did you mean "url"?'],
  ["serverUrl", 'did you mean "url"?'],
  ["workingDirectory", 'did you mean "cwd"?'],
]);

export class FieldReader {
  /** Whether everything read so far was as it must be. */
  valid = true;
  readonly node: ConfigObject;
  readonly #report: Report;
  readonly #prefix: string;
  /** What an error means for the entry, as a note to each. */
  readonly #consequence: string | undefined;

  /** `prefix` stands before field names in messages, such as `oauth.`. */
  constructor(node: ConfigObject, report: Report, options: { prefix?: string; consequence?: string } = {}) {
    this.node = node;
    this.#report = report;
    this.#prefix = options.prefix ?? "";
    this.#consequence = options.consequence;
  }

  has(key: string): boolean {
    return this.node.members.has(key);
  }

  value(key: string): ConfigNode | undefined {
    return this.node.members.get(key)?.value;
  }

  /** A field's value when it is a string, without any complaint when it isn't. */
  stringOrNothing(key: string): string | undefined {
    const node = this.value(key);
    return node?.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
  }

  /** Reports that a field can't be as it is. */
  reject(key: string, message: string, ...notes: (string | undefined)[]): undefined {
    const at = this.value(key)?.at ?? this.node.at;
    return this.rejectAt(at, `${this.#prefix}${key} ${message}`, ...notes);
  }

  rejectAt(at: SourceLocation, message: string, ...notes: (string | undefined)[]): undefined {
    this.valid = false;
    this.#report("invalid-value", message, at, [...notes, this.#consequence]);
    return undefined;
  }

  boolean(key: string): boolean | undefined {
    const node = this.value(key);
    if (node === undefined) return undefined;
    if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
    return this.reject(key, "must be true or false", "write it without quotes");
  }

  string(key: string, must = "be a string", accept: (value: string) => boolean = () => true): string | undefined {
    const node = this.value(key);
    if (node === undefined) return undefined;
    if (node.kind === "scalar" && typeof node.value === "string" && accept(node.value)) return node.value;
    return this.reject(key, `must ${must}`);
  }

  number(key: string, must: string, accept: (value: number) => boolean): number | undefined {
    const node = this.value(key);
    if (node === undefined) return undefined;
    const value = node.kind === "scalar" ? node.value : undefined;
    if (typeof value === "number" && Number.isFinite(value) && accept(value)) return value;
    const quotes = typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value));
    return this.reject(key, `must be ${must}`, quotes ? "write it without quotes" : undefined);
  }

  positiveInteger(key: string, unit: string): number | undefined {
    return this.number(key, `a positive whole number of ${unit}`, (value) => Number.isInteger(value) && value > 0);
  }

  naturalNumber(key: string, unit: string): number | undefined {
    return this.number(key, `a whole number of ${unit}, 0 or more`, (value) => Number.isInteger(value) && value >= 0);
  }

  oneOf<T extends string>(key: string, choices: readonly T[], ...notes: (string | undefined)[]): T | undefined {
    const node = this.value(key);
    if (node === undefined) return undefined;
    const value = node.kind === "scalar" ? node.value : undefined;
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    const shown = value === undefined ? "" : `${quoted(value)} `;
    const close = typeof value === "string" ? nearest(value, choices) : undefined;
    return this.reject(key, `${shown}is not one of ${choices.join(", ")}`, ...notes, suggestion(close));
  }

  strings(key: string): string[] | undefined {
    const node = this.value(key);
    if (node === undefined) return undefined;
    if (node.kind !== "array") return this.reject(key, "must be a list of strings", "one argument each, no shell line");
    const items: string[] = [];
    node.items.forEach((item, index) => {
      if (item.kind === "scalar" && typeof item.value === "string") items.push(item.value);
      else this.rejectAt(item.at, `${this.#prefix}${key}[${index}] must be a string`, inQuotes(item));
    });
    return items;
  }

  /** An object of strings, in the order of the file and without a prototype. Names must match `name`. */
  stringMap(key: string, name: RegExp, nameMust: string): Record<string, string> | undefined {
    const node = this.value(key);
    if (node === undefined) return undefined;
    if (node.kind !== "object") return this.reject(key, "must be an object of strings");
    const map: Record<string, string> = Object.create(null);
    for (const member of node.members.values()) {
      const field = `${this.#prefix}${key}.${quoted(member.key).slice(1, -1)}`;
      if (!name.test(member.key)) {
        this.rejectAt(member.keyAt, `name ${quoted(member.key)} in ${this.#prefix}${key} must ${nameMust}`);
      }
      if (member.value.kind === "scalar" && typeof member.value.value === "string") {
        map[member.key] = member.value.value;
      } else {
        this.rejectAt(member.value.at, `${field} must be a string`, inQuotes(member.value));
      }
    }
    return map;
  }

  /** Warns about every key that is not in `known`, with the known key it may have meant. */
  warnUnknown(known: readonly string[]): void {
    for (const member of this.node.members.values()) {
      if (known.includes(member.key)) continue;
      const note = FOREIGN_KEYS.get(member.key) ?? suggestion(nearest(member.key, known)) ?? "remove it";
      this.#report("unknown-key", `unknown key ${quoted(this.#prefix + member.key)}; it has no effect`, member.keyAt, [
        note,
      ]);
    }
  }

  /** Warns that a field is understood but does nothing here. */
  warnNoEffect(key: string, why: string): void {
    const member = this.node.members.get(key);
    if (member) this.#report("no-effect", `${this.#prefix}${key} has no effect ${why}`, member.keyAt, ["remove it"]);
  }
}

export function suggestion(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `did you mean ${quoted(name)}?`;
}

/** `{ [key]: value }`, or nothing for undefined: for optional fields of plain data. */
export function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

function inQuotes(node: ConfigNode): string | undefined {
  return node.kind === "scalar" && node.value !== null ? "write it in quotes" : undefined;
}
