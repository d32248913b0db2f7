import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildSearchIndex } from "../../compiler/emit/search-index.ts";
import { editDistance } from "../../schemas/edit-distance.ts";
import { namespaceOf, plainToolName } from "../../schemas/names.ts";
import { parameterNames, summaryOf } from "../../schemas/search-document.ts";
import { buildPostings, readPostings } from "../../schemas/search-postings.ts";
import { isNamespaceOf, type SearchOptions, searchTools } from "../../schemas/search-query.ts";
import { singulars } from "../../schemas/search-spelling.ts";
import { nameTerms, proseTerms, queryTerms } from "../../schemas/search-terms.ts";
import type { ServerSpec, ToolSpec } from "../artifacts-builder.ts";

type Exposed = ToolSpec & { readonly exposure?: "codemode-deferred" | "hidden" };

function index(server: Partial<Omit<ServerSpec, "tools">> & { tools: readonly Exposed[] }) {
  const name = server.name ?? "docs";
  const tools = server.tools.map(({ exposure, limit: _, name: tool, ...declared }) => ({
    tool: { name: plainToolName({ server: name, tool }), tool, method: tool, ...declared },
    exposure: exposure ?? ("codemode" as const),
  }));
  const { toolExposure: _, exposure: __, tools: ___, ...rest } = server;
  const catalog = {
    ...rest,
    name,
    namespace: namespaceOf(name),
    client: name,
    capabilities: {},
    resources: false,
    prompts: false,
  };
  return { catalog: { ...catalog, tools: tools.map(({ tool }) => tool) }, tools };
}

function find(servers: readonly ReturnType<typeof index>[], query: string, options?: SearchOptions): string[] {
  const file = buildSearchIndex(servers);
  return searchTools([{ file, shows: () => true }], query, options).map((result) => result.tool);
}

const talkative = Array.from({ length: 30 }, (_, number) => ({
  name: `app_${number}`,
  title: "The app's app",
  description: `Opens the app. The app is an app of apps, so that every app has its app ${number}. addPerson adds to the app.`,
}));
const people = index({
  tools: [...talkative, { name: "app", description: "" }, { name: "addPerson" }, { name: "addActivity" }],
});

describe("names", () => {
  const rows: [query: string, first: string[]][] = [
    ["app", ["app"]],
    ["APP", ["app"]],
    ["addPerson", ["addPerson"]],
    ["add person", ["addPerson"]],
    ["add_person", ["addPerson"]],
    ["add-person", ["addPerson"]],
    ["addperson", ["addPerson"]],
    ["mcp__docs__addPerson", ["addPerson"]],
    ["docs/addPerson", ["addPerson"]],
    ["docs.addPerson", ["addPerson"]],
    ["`addPerson`", ["addPerson"]],
    ["app addPerson addActivity", ["addActivity", "addPerson", "app"]],
    ["app, addPerson and addActivity", ["addActivity", "addPerson", "app"]],
    ["which of addPerson, app_3 opens it", ["addPerson", "app_3"]],
  ];
  test.each(rows)("%s", (query, first) => {
    expect(find([people], query).slice(0, first.length).sort()).toEqual([...first].sort());
  });

  test("every named tool is in the result even when they are more than the default limit", () => {
    const names = talkative.map((tool) => tool.name);
    expect(new Set(find([people], names.join(" ")))).toEqual(new Set(names));
  });

  test("a plain word among others asks for no tool of that name", () => {
    const server = index({
      tools: [{ name: "search" }, { name: "list_issues", description: "Open issues of a repository" }],
    });
    expect(find([server], "search open issues of repository")[0]).toBe("list_issues");
    expect(find([server], "search")[0]).toBe("search");
  });

  test("names that mean something to JavaScript are only names", () => {
    const server = index({
      tools: [{ name: "__proto__" }, { name: "constructor", description: "toString" }, { name: "hasOwnProperty" }],
    });
    expect(find([server], "constructor")[0]).toBe("constructor");
    expect(find([server], "__proto__")[0]).toBe("__proto__");
    expect(find([server], "valueOf")).toEqual([]);
  });
});

describe("words", () => {
  const server = index({
    description: "Customer relations",
    tools: [
      { name: "create_issue", title: "New ticket", description: "Creates an issue in a repository." },
      { name: "get_forecast", description: "Weather for a city" },
      { name: "run_query", description: "Runs SQL against PostgreSQL" },
      { name: "crear_café", description: "Añade un café" },
      { name: "wetter", description: "天気予報を取得する" },
      { name: "secret_wipe", description: "weather forecast issue", exposure: "hidden" },
      { name: "later", description: "archives snapshots", exposure: "codemode-deferred" },
    ],
  });
  const rows: [query: string, first: string][] = [
    ["issues", "create_issue"],
    ["repo", "create_issue"],
    ["ticket", "create_issue"],
    ["weathr forcast", "get_forecast"],
    ["how do I get the weather", "get_forecast"],
    ["postgres", "run_query"],
    ["cafe", "crear_café"],
    ["天気", "wetter"],
    ["予報", "wetter"],
    ["報", "wetter"],
    ["snapshot", "later"],
  ];
  test.each(rows)("%s", (query, first) => {
    expect(find([server], query)[0]).toBe(first);
  });

  test("a hidden tool leaves no trace in the index", () => {
    expect(JSON.stringify(buildSearchIndex([server]))).not.toMatch(/secret|wipe/);
  });

  test("a longer word is no better match for being rare", () => {
    const lists = Array.from({ length: 20 }, (_, number) => ({ name: `list_${number}` }));
    const found = find([index({ tools: [...lists, { name: "listless_poem" }] })], "list", { limit: 30 });
    expect(found.at(-1)).toBe("listless_poem");
  });

  test("what the server says of itself finds its tools", () => {
    expect(find([server], "customer")).toHaveLength(6);
  });

  test("nothing is found for nothing, and limits are kept", () => {
    expect(find([server], "")).toEqual([]);
    expect(find([server], "  ,, ")).toEqual([]);
    expect(find([server], "zzzzqqqq")).toEqual([]);
    expect(find([server], "customer", { limit: 2 })).toHaveLength(2);
  });
});

describe("parameters", () => {
  const schema = {
    type: "object",
    properties: {
      home: { $ref: "#/$defs/Addr" },
      filters: {
        type: "array",
        items: { anyOf: [{ properties: { minPrice: {} } }, { allOf: [{ properties: { "a/b": {} } }] }] },
      },
      properties: { type: "object", properties: { $ref: { type: "string" } } },
      esc: { $ref: "#/definitions/x~1y%20z" },
      foreign: { $ref: "https://example.com/schema#/properties/stolen" },
      broken: { $ref: "#/$defs/%E0%A4%A" },
    },
    $defs: {
      Addr: { type: "object", properties: { postcode: {}, next: { $ref: "#/$defs/Addr" }, all: { $ref: "#" } } },
      Old: { type: "object", properties: { telex: {} } },
    },
    definitions: { "x/y z": { properties: { deep: {} } } },
  };

  test("behind references, nested, and those named like keywords; unreferenced definitions are not there", () => {
    const names = parameterNames(schema);
    const want = "home filters properties esc foreign broken postcode next all minPrice a/b $ref deep".split(" ");
    expect([...names].sort()).toEqual([...want].sort());
  });

  test("postcode finds the tool, telex does not", () => {
    const server = index({ tools: [{ name: "ship", inputSchema: schema }, { name: "other" }] });
    expect(find([server], "postcode")).toEqual(["ship"]);
    expect(find([server], "min price")).toEqual(["ship"]);
    expect(find([server], "telex")).toEqual([]);
  });

  test("diamonds of references are walked once", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => {
        const next = level === 39 ? {} : { $ref: `#/$defs/L${level + 1}` };
        return [`L${level}`, { properties: { [`a${level}`]: next, [`b${level}`]: next } }];
      }),
    );
    expect(parameterNames({ $ref: "#/$defs/L0", $defs })).toHaveLength(80);
  });

  test.each([true, false, null, 7, "x", [], { properties: [] }, { properties: null, items: [null, true] }])(
    "%j has none",
    (value) => {
      expect(parameterNames(value)).toEqual([]);
    },
  );
});

describe("namespace", () => {
  const servers = [
    index({ name: "dev-radius", tools: [{ name: "search" }] }),
    index({ name: "other", tools: [{ name: "search" }] }),
  ];
  test.each(["mcp__dev-radius", "mcp__dev_radius", "dev-radius", "dev_radius"])("%s", (namespace) => {
    const file = buildSearchIndex(servers);
    const found = searchTools([{ file, shows: () => true }], "search", { namespace });
    expect(found.map((result) => result.server)).toEqual(["dev-radius"]);
  });

  test("is the whole name, not its beginning", () => {
    expect(isNamespaceOf("git", "git_hub")).toBe(false);
    expect(isNamespaceOf("mcp__git", "git-hub")).toBe(false);
  });
});

describe("segments", () => {
  test("are ranked together and show only what they may", () => {
    const project = buildSearchIndex([index({ name: "p", tools: [{ name: "weather", description: "city weather" }] })]);
    const user = buildSearchIndex([
      index({
        name: "u",
        tools: [
          { name: "forecast", description: "weather" },
          { name: "gone", description: "weather weather" },
        ],
      }),
    ]);
    const found = searchTools(
      [
        { file: project, shows: () => true },
        { file: user, shows: (tool) => tool.tool !== "gone" },
      ],
      "weather",
    );
    expect(found.map((result) => `${result.server}/${result.tool}`)).toEqual(["p/weather", "u/forecast"]);
    expect(Object.keys(found[0]!)).toEqual(["name", "server", "tool", "description", "score"]);
    expect(found.every((result) => Number.isFinite(result.score))).toBe(true);
  });
});

describe("the index", () => {
  test("has the same bytes whatever order servers and tools come in", () => {
    const a = index({
      name: "a",
      tools: [
        { name: "x", description: "one two" },
        { name: "y", description: "two" },
      ],
    });
    const b = index({ name: "b", tools: [{ name: "z", description: "東京の天気" }] });
    const turned = { catalog: a.catalog, tools: [...a.tools].reverse() };
    expect(JSON.stringify(buildSearchIndex([b, turned]))).toBe(JSON.stringify(buildSearchIndex([a, b])));
  });

  test("cuts unspaced scripts without a dictionary", () => {
    expect(proseTerms("天気予報 Tokyo")).toEqual(["天気", "気予", "予報", "報", "tokyo"]);
  });

  test("holds one term an entry, sorted, and reads back what was written", () => {
    const term = fc.constantFrom("alpha", "beta", "gamma", "delta");
    const description = fc.array(term, { maxLength: 6 }).map((terms) => terms.join(" "));
    fc.assert(
      fc.property(fc.array(description, { minLength: 1, maxLength: 30 }), (descriptions) => {
        const documents = descriptions.map((text, number) => ({
          name: `mcp__s__${number}`,
          server: "s",
          tool: `${number}`,
          title: "",
          description: text,
          parameters: [],
          parameterTexts: [],
          serverText: "",
          instructions: "",
        }));
        const entries = buildPostings(documents);
        expect(entries).toEqual([...entries].sort());
        for (const word of ["alpha", "beta", "gamma", "delta"]) {
          const holders = descriptions.flatMap((text, number) => (text.split(" ").includes(word) ? [number] : []));
          const entry = entries.find((candidate) => candidate.startsWith(`${word} `)) ?? "";
          expect(readPostings(entry, documents.length).map(({ document }) => document)).toEqual(holders);
        }
      }),
    );
  });

  test.each(["", "term", "term ", "term x", "term 0:5", "term 1", "term 99:1+99999999", "term 1:2+", "term 1:2:3 4"])(
    "a damaged entry %j gives documents in range and ends",
    (entry) => {
      for (const { document } of readPostings(entry, 3)) expect([0, 1, 2]).toContain(document);
    },
  );

  test("a description of megabytes is bounded", () => {
    const server = index({
      tools: [{ name: "big", description: `${"word".repeat(500_000)} ${"tail ".repeat(400_000)}` }],
    });
    expect(JSON.stringify(buildSearchIndex([server])).length).toBeLessThan(2_000);
  });
});

describe("terms", () => {
  const rows: [name: string, terms: string[]][] = [
    ["addPerson", ["addperson", "add", "person"]],
    ["add_person", ["add", "person"]],
    ["HTTPServer2", ["httpserver2", "http", "server"]],
    ["listURLs", ["listurls", "list", "urls"]],
    ["base64Encode", ["base64encode", "base", "64", "encode"]],
    ["s3", ["s3"]],
    ["get-x", ["get", "x"]],
    ["ÜberPrüfung", ["uberprufung", "uber", "prufung"]],
    ["한국어", ["한국어"]],
    ["", []],
  ];
  test.each(rows)("%s", (name, want) => {
    expect(nameTerms(name)).toEqual(want);
  });

  test("stop words count only where there is nothing else", () => {
    expect(queryTerms("what is the weather")).toEqual(["weather"]);
    expect(queryTerms("to be")).toEqual(["to", "be"]);
  });

  test.each([
    ["queries", ["querie", "queri", "query"]],
    ["boxes", ["boxe", "box"]],
    ["class", []],
    ["gas", []],
  ])("singulars of %s", (word, want) => {
    expect(singulars(word)).toEqual(want);
  });

  test.each([
    ["weather", "weathr", 1],
    ["weather", "waether", 1],
    ["weather", "wether", 1],
    ["weather", "leather", 1],
    ["weather", "feathers", 2],
    ["a", "abc", 2],
  ])("%s is %s after %i edits", (a, b, edits) => {
    expect(editDistance(a, b, 2)).toBe(edits);
    expect(editDistance(b, a, 2)).toBe(edits);
    expect(editDistance(a, b, edits - 1)).toBeGreaterThan(edits - 1);
  });

  test("a summary is the first line with something on it and never half a character", () => {
    expect(summaryOf("\n\n  First line.  \nSecond")).toBe("First line.");
    const cut = summaryOf(`${"x".repeat(118)}😀 and more`);
    expect(cut).toBe(`${"x".repeat(118)}…`);
  });
});
