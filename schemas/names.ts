/**
 * Names that both halves must agree on: tool names as models and scripts see them, and client and
 * method names in stubs. Every function here is pure and independent of the order of its input, so
 * two compiles of the same tools give the same names whatever order a server listed them in.
 */
import { createHash } from "node:crypto";

/** Model providers accept tool names of at most this many characters. */
export const MAX_TOOL_NAME_LENGTH = 64;

/** Exposure, limits and search name a tool by its server's and its own name. */
export interface ToolRef {
  readonly server: string;
  readonly tool: string;
}

/** `mcp__<server>`, with everything but `[A-Za-z0-9_]` as `_` (Pi's `docs/mcp.md`). */
export function namespaceOf(server: string): string {
  return `mcp__${server}`.replace(/[^A-Za-z0-9_]/g, "_");
}

/** `mcp__<server>__<tool>` folded to `[A-Za-z0-9_]`, however long. */
export function plainToolName(ref: ToolRef): string {
  return `mcp__${ref.server}__${ref.tool}`.replace(/[^A-Za-z0-9_]/g, "_");
}

/**
 * One unique name of at most 64 characters for each tool, in the order given. All tools that fold to
 * one name get a hash suffix, as does a name that is too long, so no name depends on which tool came
 * first. Two entries with the same server and tool are the caller's fault and get the same name.
 */
export function foldToolNames(refs: readonly ToolRef[]): string[] {
  const plain = refs.map(plainToolName);
  const identities = refs.map((ref) => `${ref.server}\0${ref.tool}`);
  const owners = new Map<string, Set<string>>();
  plain.forEach((name, index) => {
    const set = owners.get(name) ?? new Set();
    owners.set(name, set.add(identities[index]!));
  });
  const suffixed = (index: number, digits: number) => {
    const hash = createHash("sha256").update(identities[index]!).digest("hex").slice(0, digits);
    return `${plain[index]!.slice(0, MAX_TOOL_NAME_LENGTH - digits - 1)}_${hash}`;
  };
  const names = plain.map((name, index) =>
    name.length <= MAX_TOOL_NAME_LENGTH && owners.get(name)!.size === 1 ? name : suffixed(index, 8),
  );
  return separate(names, identities, (index, round) => suffixed(index, Math.min(8 + 8 * round, 48)));
}

/** A client or method name, and whether it had to be told apart from another by a suffix. */
export function foldIdentifiers(originals: readonly string[]): string[] {
  const plain = originals.map(camelCase);
  const suffixed = (index: number, digits: number) =>
    `${plain[index]}_${createHash("sha256").update(originals[index]!).digest("hex").slice(0, digits)}`;
  return separate(plain, originals, (index, round) => suffixed(index, Math.min(6 + 6 * (round - 1), 60)));
}

/**
 * Replaces every name that several identities share, round by round, until none is shared. A round
 * renames all owners of a name at once, which keeps the outcome free of order; the longer hash of a
 * later round keeps the loop finite even where a server chose a name that equals a suffixed one.
 */
function separate(
  names: string[],
  identities: readonly string[],
  rename: (index: number, round: number) => string,
): string[] {
  for (let round = 1; round < 12; round++) {
    const owners = new Map<string, Set<string>>();
    names.forEach((name, index) => {
      owners.set(name, (owners.get(name) ?? new Set()).add(identities[index]!));
    });
    if ([...owners.values()].every((set) => set.size === 1)) break;
    names = names.map((name, index) => (owners.get(name)!.size > 1 ? rename(index, round) : name));
  }
  return names;
}

/**
 * `two-words` → `twoWords`, `get_forecast` → `getForecast`, `HTTPServer` → `httpServer`, `9lives` → `_9lives`.
 * A name a module or a client can't have gets a trailing `_`. Letters outside ASCII are kept where
 * ECMAScript allows them in an identifier; a name with nothing usable becomes `_`.
 */
export function camelCase(original: string): string {
  const words = original
    .normalize("NFC")
    .split(/[^\p{ID_Continue}]+|_+/u)
    .filter((word) => word !== "");
  const joined = words
    .map((word, index) => (index === 0 ? lowerFirstWord(word) : word[0]!.toUpperCase() + word.slice(1)))
    .join("");
  if (joined === "") return "_";
  const identifier = /^[\p{ID_Start}$_]/u.test(joined) ? joined : `_${joined}`;
  return RESERVED.has(identifier) ? `${identifier}_` : identifier;
}

function lowerFirstWord(word: string): string {
  const capitals = /^\p{Lu}+/u.exec(word)?.[0].length ?? 0;
  if (capitals === 0) return word;
  // `HTTPServer` keeps the S of its next word; `URL` and `ID` are words of their own.
  const lowered = capitals === 1 || capitals === word.length ? capitals : capitals - 1;
  return word.slice(0, lowered).toLowerCase() + word.slice(lowered);
}

/** Reserved words of ECMAScript modules, and members that a client object can't give to a tool. */
const RESERVED = new Set(
  (
    "await break case catch class const continue debugger default delete do else enum export extends false finally " +
    "for function if implements import in instanceof interface let new null package private protected public return " +
    "static super switch this throw true try typeof var void while with yield arguments eval undefined NaN Infinity " +
    "constructor prototype __proto__ then toString valueOf toJSON hasOwnProperty isPrototypeOf propertyIsEnumerable " +
    "toLocaleString async of as any unknown never string number boolean symbol object bigint"
  ).split(" "),
);
