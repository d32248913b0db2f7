/**
 * The part of a `prompts/list` answer that pimcp keeps: what a person needs to pick a prompt and fill it in. Any other
 * member of a prompt (icons, `_meta`) is no part of it.
 */
import { isRecord } from "./record.ts";
import type { IllTypedMember } from "./tool-list.ts";

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** Absent where the argument may be left out. */
  readonly required?: true;
}

/** One prompt as declared, ill-typed members left out. */
export interface PromptDefinition {
  /** The server's own name of the prompt. */
  readonly prompt: string;
  readonly title?: string;
  readonly description?: string;
  /** In the server's order, which is that of words on a command line. */
  readonly arguments?: readonly PromptArgument[];
}

/** More than anybody would type; entries beyond are not even looked at. */
const MAX_ARGUMENTS = 100;

/** How a prompt's arguments are given: `<city> [style]`. */
export function usageOf(args: readonly PromptArgument[] = []): string {
  return args.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(" ");
}

/** Keeps what is well-typed of a prompt and names what is not. */
export function definePrompt(entry: { readonly name: string; readonly [key: string]: unknown }): {
  readonly definition: PromptDefinition;
  readonly illTyped: readonly IllTypedMember[];
} {
  const illTyped: IllTypedMember[] = [];
  const kept = texts(entry, ["title", "description"], "", illTyped);
  const list = readArguments(own(entry, "arguments"), illTyped);
  return { definition: { prompt: entry.name, ...kept, ...(list.length > 0 && { arguments: list }) }, illTyped };
}

function readArguments(value: unknown, illTyped: IllTypedMember[]): readonly PromptArgument[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    illTyped.push({ member: "arguments", expected: "a list" });
    return [];
  }
  if (value.length > MAX_ARGUMENTS)
    illTyped.push({ member: `arguments/${MAX_ARGUMENTS}`, expected: `one of the first ${MAX_ARGUMENTS}` });
  const names = new Set<string>();
  return value.slice(0, MAX_ARGUMENTS).flatMap((item: unknown, index): PromptArgument[] => {
    const name = isRecord(item) ? own(item, "name") : undefined;
    // A second one of a name could be given no value of its own.
    if (!isRecord(item) || typeof name !== "string" || name === "" || names.has(name)) {
      illTyped.push({ member: `arguments/${index}`, expected: "an object with a name of its own" });
      return [];
    }
    names.add(name);
    const described = texts(item, ["title", "description"], `arguments/${index}/`, illTyped);
    return [{ name, ...described, ...(own(item, "required") === true && { required: true }) }];
  });
}

function texts(
  from: Readonly<Record<string, unknown>>,
  members: readonly ("title" | "description")[],
  path: string,
  illTyped: IllTypedMember[],
): { title?: string; description?: string } {
  const kept: { title?: string; description?: string } = {};
  for (const member of members) {
    const value = own(from, member);
    if (typeof value === "string") kept[member] = value;
    else if (value !== undefined && value !== null) illTyped.push({ member: path + member, expected: "a string" });
  }
  return kept;
}

function own(from: Readonly<Record<string, unknown>>, member: string): unknown {
  return Object.hasOwn(from, member) ? from[member] : undefined;
}
