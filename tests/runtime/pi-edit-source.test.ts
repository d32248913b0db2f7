/** Changing one value of a configuration file: what is asked for changes, and not one byte besides. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ConfigValue, editSource, type SourceEdit } from "../../schemas/config/edit-source.ts";
import { parseConfigSource, plainValue } from "../../schemas/config/source.ts";

const PATH = ["mcpServers", "docs", "enabled"] as const;
const disable: SourceEdit = { path: PATH, value: false };
const remove: SourceEdit = { path: PATH, value: undefined, otherwise: true };

function edited(text: string, ...edits: SourceEdit[]): string {
  const outcome = editSource(text, "mcp.json", edits);
  if (!outcome.ok) throw new Error(outcome.diagnostic.message);
  return outcome.text;
}

describe("adding a member", () => {
  const rows: [what: string, before: string, after: string][] = [
    [
      "to a member a line",
      '{\n  "mcpServers": {\n    "docs": {\n      "command": "x"\n    }\n  }\n}\n',
      '{\n  "mcpServers": {\n    "docs": {\n      "command": "x",\n      "enabled": false\n    }\n  }\n}\n',
    ],
    [
      "on one line",
      '{ "mcpServers": { "docs": { "command": "x", "args": [] } } }',
      '{ "mcpServers": { "docs": { "command": "x", "args": [], "enabled": false } } }',
    ],
    [
      "without blanks",
      '{"mcpServers":{"docs":{"command":"x"}}}',
      '{"mcpServers":{"docs":{"command":"x","enabled":false}}}',
    ],
    [
      "behind a comment on the last line",
      '{\n\t"mcpServers": {\n\t\t"docs": {\n\t\t\t"command": "x" // why\n\t\t}\n\t}\n}',
      '{\n\t"mcpServers": {\n\t\t"docs": {\n\t\t\t"command": "x", // why\n\t\t\t"enabled": false\n\t\t}\n\t}\n}',
    ],
    [
      "behind a trailing comma",
      '{\n  "mcpServers": {\n    "docs": {\n      "command": "x", // why\n    },\n  },\n}',
      '{\n  "mcpServers": {\n    "docs": {\n      "command": "x", // why\n      "enabled": false,\n    },\n  },\n}',
    ],
    [
      "before a comment of its own line",
      '{\n  "mcpServers": {\n    "docs": {\n      "command": "x"\n      // "args": []\n    }\n  }\n}',
      '{\n  "mcpServers": {\n    "docs": {\n      "command": "x",\n      "enabled": false\n      // "args": []\n    }\n  }\n}',
    ],
    [
      "with \\r\\n",
      '{\r\n    "mcpServers": {\r\n        "docs": { "command": "x" }\r\n    }\r\n}\r\n',
      '{\r\n    "mcpServers": {\r\n        "docs": { "command": "x", "enabled": false }\r\n    }\r\n}\r\n',
    ],
    [
      "to a closing brace on the last line",
      '{\n  "mcpServers": {\n    "docs": {\n      "url": "y",\n      "command": "x" }}}',
      '{\n  "mcpServers": {\n    "docs": {\n      "url": "y",\n      "command": "x", "enabled": false }}}',
    ],
    ["to nothing", "{}\n", '{\n  "mcpServers": {\n    "docs": {\n      "enabled": false\n    }\n  }\n}\n'],
    [
      "to other servers",
      '{\n  "mcpServers": {\n    "a": { "command": "x" }\n  },\n  "out": "g"\n}',
      '{\n  "mcpServers": {\n    "a": { "command": "x" },\n    "docs": {\n      "enabled": false\n    }\n  },\n  "out": "g"\n}',
    ],
    [
      "to an object with only a comment",
      '{\n  "mcpServers": {\n    "docs": { // off\n    }\n  }\n}',
      '{\n  "mcpServers": {\n    "docs": { // off\n      "enabled": false\n    }\n  }\n}',
    ],
    ["behind a byte order mark", '\ufeff{"mcpServers":{"docs":{}}}', '\ufeff{"mcpServers":{"docs":{"enabled":false}}}'],
    [
      "replaces the value alone",
      '{"mcpServers":{"docs":{"enabled" : /* on */ true , "x": 1}}}',
      '{"mcpServers":{"docs":{"enabled" : /* on */ false , "x": 1}}}',
    ],
    [
      "the last of two of one name",
      '{"mcpServers":{"docs":{"enabled":true,"enabled":true}}}',
      '{"mcpServers":{"docs":{"enabled":true,"enabled":false}}}',
    ],
  ];
  test.each(rows)("%s", (_, before, after) => expect(edited(before, disable)).toBe(after));

  test("keeps the order of a map, numbers among its keys included", () => {
    const value = new Map<string, ConfigValue>([
      ["b*", "hidden"],
      ["1", "direct"],
    ]);
    const text = edited('{\n  "mcpServers": {\n    "docs": {\n      "command": "x"\n    }\n  }\n}', {
      path: ["mcpServers", "docs", "toolExposure"],
      value,
    });
    expect(text).toContain(
      '"command": "x",\n      "toolExposure": {\n        "b*": "hidden",\n        "1": "direct"\n      }\n',
    );
  });
});

describe("taking a member out", () => {
  const rows: [what: string, before: string, after: string][] = [
    [
      "with its line",
      '{\n  "mcpServers": {\n    "docs": {\n      "enabled": false,\n      "command": "x"\n    }\n  }\n}',
      '{\n  "mcpServers": {\n    "docs": {\n      "command": "x"\n    }\n  }\n}',
    ],
    [
      "the last one, with the comma before it",
      '{\n  "mcpServers": {\n    "docs": {\n      "command": "x", // why\n      "enabled": false\n    }\n  }\n}',
      '{\n  "mcpServers": {\n    "docs": {\n      "command": "x" // why\n    }\n  }\n}',
    ],
    [
      "on one line",
      '{"mcpServers":{"docs":{"command":"x", "enabled":false}}}',
      '{"mcpServers":{"docs":{"command":"x"}}}',
    ],
    [
      "the first on one line",
      '{"mcpServers":{"docs":{"enabled":false, "command":"x"}}}',
      '{"mcpServers":{"docs":{"command":"x"}}}',
    ],
    ["the only one", '{"mcpServers":{"docs":{ "enabled": false }}}', '{"mcpServers":{"docs":{}}}'],
    [
      "beside a comment it is only set",
      '{\n  "mcpServers": {\n    "docs": {\n      "enabled": false, // too slow\n      "command": "x"\n    }\n  }\n}',
      '{\n  "mcpServers": {\n    "docs": {\n      "enabled": true, // too slow\n      "command": "x"\n    }\n  }\n}',
    ],
    [
      "twice there: only set",
      '{"mcpServers":{"docs":{"enabled":false,"enabled":false}}}',
      '{"mcpServers":{"docs":{"enabled":false,"enabled":true}}}',
    ],
    ["that isn't there", '{"mcpServers":{}}', '{"mcpServers":{}}'],
  ];
  test.each(rows)("%s", (_, before, after) => expect(edited(before, remove)).toBe(after));
});

describe("what is refused", () => {
  const rows: [what: string, text: string, code: string, said: string][] = [
    [
      "a syntax error",
      '{\n  "mcpServers": {\n',
      "config-syntax",
      "mcp.json can't be changed as long as it doesn't parse",
    ],
    ["an empty file", "", "config-syntax", "the file is empty"],
    ["a list", "[]", "config-shape", "its content is no object"],
    ["servers that are no object", '{"mcpServers": []}', "config-shape", '"mcpServers" is no object'],
    ["an entry that is no object", '{"mcpServers": {"docs": 5}}', "config-shape", '"mcpServers" → "docs" is no object'],
  ];
  test.each(rows)("%s", (_, text, code, said) => {
    const outcome = editSource(text, "mcp.json", [disable]);
    expect(outcome).toMatchObject({ ok: false, diagnostic: { code } });
    expect(outcome.ok ? "" : outcome.diagnostic.message).toContain(said);
  });
});

/** A configuration as somebody may have typed it: any order, comments and blanks anywhere between tokens. */
const blank = fc.constantFrom("", " ", "\n", "\n    ", "\t", " /* c */ ", " // c\n");
const name = fc.constantFrom("docs", "enabled", "a", "1", "__proto__", "toolExposure", "é\u2028", 'q"');
const scalar = fc.constantFrom("true", "false", '"x"', '"// no comment"', "1e3", "[1, {}]", "null");
const { object } = fc.letrec<{ object: string }>((tie) => ({
  object: fc
    .tuple(
      fc.array(fc.tuple(name, fc.oneof(scalar, tie("object")), blank, blank, blank), { maxLength: 4 }),
      fc.boolean(),
      blank,
    )
    .map(([members, trailing, end]) => {
      const texts = members.map(([key, value, a, b, c]) => `${a}${JSON.stringify(key)}${b}:${c}${value}`);
      return `{${texts.join(",")}${trailing && texts.length > 0 ? "," : ""}${end}}`;
    }),
}));
const file = fc
  .tuple(fc.constantFrom("", "\ufeff"), blank, object, blank)
  .map(([bom, a, text, b]) => `${bom}${a}${text}${b}`);
const path = fc.array(name, { minLength: 1, maxLength: 3 }) as unknown as fc.Arbitrary<[string, ...string[]]>;

const dataOf = (text: string) => plainValue(parseConfigSource(text, "f").root!);

type Data = Readonly<Record<string, unknown>> | undefined;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const blankless = (text: string) => text.replace(/\s/g, "");

function isSubsequence(part: string, whole: string): boolean {
  let found = 0;
  for (const character of whole) if (character === part[found]) found++;
  return found === part.length;
}

/** The same by hand, on plain data. */
function changed(value: unknown, [key, ...rest]: readonly string[], to: unknown): unknown {
  const copy: Record<string, unknown> = Object.assign(Object.create(null), value);
  if (rest.length > 0) copy[key!] = changed(copy[key!] ?? Object.create(null), rest, to);
  else copy[key!] = to;
  return copy;
}

describe("whatever the file looks like", () => {
  test("the value is set, all other data and all comments stay, and none of the text is lost", () => {
    fc.assert(
      fc.property(file, path, fc.constantFrom<ConfigValue>(true, "direct", 7), (text, at, value) => {
        const outcome = editSource(text, "f", [{ path: at, value }]);
        if (!outcome.ok) {
          expect(outcome.diagnostic.code).toBe("config-shape");
          return;
        }
        expect(dataOf(outcome.text)).toEqual(changed(dataOf(text), at, value));
        const before = at.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), dataOf(text));
        if (before === undefined) expect(isSubsequence(blankless(text), blankless(outcome.text))).toBe(true);
        if (!isObject(before)) expect(outcome.text.split("c */").length).toBe(text.split("c */").length);
        expect(outcome.text.startsWith("\ufeff")).toBe(text.startsWith("\ufeff"));
      }),
      { numRuns: 2000 },
    );
  });

  test("what is added and taken out again leaves the bytes that were there", () => {
    fc.assert(
      fc.property(file, path, (text, at) => {
        const added = editSource(text, "f", [{ path: at, value: "new" }]);
        fc.pre(added.ok && added.text.length > text.length && !JSON.stringify(dataOf(text)).includes('"new"'));
        // Objects that were made on the way stay; what is compared is a member beside others.
        const parent = at.slice(0, -1).reduce<Data>((value, key) => value?.[key] as Data, dataOf(text) as Data);
        fc.pre(
          typeof parent === "object" &&
            parent !== null &&
            Object.keys(parent).length > 0 &&
            !Object.hasOwn(parent, at.at(-1)!),
        );
        const out = editSource(added.ok ? added.text : "", "f", [{ path: at, value: undefined, otherwise: "kept" }]);
        expect(out.ok).toBe(true);
        if (out.ok && !out.text.includes('"kept"')) expect(out.text).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });
});
