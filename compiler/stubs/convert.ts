/**
 * Plain schemas to TypeScript type texts by json-schema-to-typescript, many in one call: the converter is asked
 * for one tuple whose elements are the wanted types, which costs a third of a call each. Its output holds
 * only tokens and punctuation, so it can be laid out line by line; text of servers is put back last.
 * Imports the converter on first use; opens nothing.
 */
import { docComment } from "./doc-comment.ts";
import type { PlainSchema, TokenTable } from "./plain-schema.ts";

/** Schemas in one call: enough to spread its fixed cost, few enough to keep its memory small. */
const BATCH = 100;
/** Stands between elements of the tuple. */
const SEPARATOR = "$$$";

type Compile = typeof import("json-schema-to-typescript").compile;

/** The type of each schema, laid out with two spaces a level; undefined for one that the converter fails on. */
export async function convertToTypes(
  schemas: readonly PlainSchema[],
  tokens: TokenTable,
): Promise<(string | undefined)[]> {
  if (schemas.length === 0) return [];
  const { default: converter } = await import("json-schema-to-typescript");
  const texts: (string | undefined)[] = [];
  for (let start = 0; start < schemas.length; start += BATCH)
    texts.push(...(await convertBatch(schemas.slice(start, start + BATCH), converter.compile)));
  return texts.map((text) => (text === undefined ? undefined : layOut(text, tokens)));
}

async function convertBatch(schemas: readonly PlainSchema[], compile: Compile): Promise<(string | undefined)[]> {
  const texts = await convertTuple(schemas, compile);
  if (texts !== undefined) return texts;
  if (schemas.length === 1) return [undefined];
  const half = Math.ceil(schemas.length / 2);
  return [
    ...(await convertBatch(schemas.slice(0, half), compile)),
    ...(await convertBatch(schemas.slice(half), compile)),
  ];
}

async function convertTuple(schemas: readonly PlainSchema[], compile: Compile): Promise<string[] | undefined> {
  const items = schemas.flatMap((schema) => [{ tsType: SEPARATOR }, schema]);
  const tuple = { type: "array", items, minItems: items.length, additionalItems: false };
  let output: string;
  try {
    output = await compile(tuple as Parameters<Compile>[0], "Types", {
      additionalProperties: false,
      bannerComment: "",
      format: false,
      $refOptions: { resolve: { external: false, file: false, http: false } },
    });
  } catch {
    // Whatever the converter stumbled over is narrowed down by halves, and its type becomes `unknown` with a diagnostic.
    return undefined;
  }
  const first = output.indexOf(`[${SEPARATOR}, `);
  const last = output.lastIndexOf("]");
  if (first < 0 || last < 0) return undefined;
  const texts = output.slice(first + SEPARATOR.length + 3, last).split(`, ${SEPARATOR}, `);
  return texts.length === schemas.length ? texts : undefined;
}

/** Indents, ends members with `;`, keeps of each comment the token that stands for our text, and restores tokens. */
function layOut(raw: string, tokens: TokenTable): string {
  const lines: string[] = [];
  let depth = 0;
  let comment: string | undefined;
  for (const line of withoutOuterParentheses(raw).split("\n")) {
    const indent = "  ".repeat(Math.max(depth - (line.startsWith("}") ? 1 : 0), 0));
    if (line === "/**") comment = "";
    else if (line === " */" && comment !== undefined) {
      if (comment !== "") lines.push(docComment(comment, indent));
      comment = undefined;
    } else if (comment !== undefined) {
      // The converter adds notes of its own, such as `@minItems 2`.
      if (/^ \* \$\$\d+$/.test(line)) comment = tokens.restore(line.slice(3));
    } else if (line !== "") {
      depth += line.split("{").length - line.split("}").length;
      const ends = depth > 0 && !line.endsWith("{");
      lines.push(`${indent}${tokens.restore(line)}${ends ? ";" : ""}`);
    }
  }
  return lines.join("\n");
}

/** The converter writes every union in parentheses; around a whole type they say nothing. */
function withoutOuterParentheses(raw: string): string {
  const open: number[] = [];
  const dropped = new Set<number>();
  for (let index = 0; index < raw.length; index++) {
    if (raw[index] === "(") open.push(index);
    if (raw[index] !== ")") continue;
    const start = open.pop()!;
    const whole =
      (start === 0 || raw.startsWith(": ", start - 2)) && (index === raw.length - 1 || raw[index + 1] === "\n");
    if (whole) dropped.add(start).add(index);
  }
  const cuts = [...dropped].sort((a, b) => a - b);
  return [-1, ...cuts].map((cut, index) => raw.slice(cut + 1, cuts[index])).join("");
}

/** Whether a laid-out type is one object type and nothing else, so that it can be an interface. */
export function isObjectType(text: string): boolean {
  return text.startsWith("{\n") && text.indexOf("\n}") === text.length - 2;
}
