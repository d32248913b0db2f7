/** Scripts that are right pass without a word, and wrong ones are told where and how: given/want rows. */
import { beforeAll, describe, expect, test } from "vitest";
import { openCheck, told } from "./script-tools.ts";

beforeAll(openCheck);

describe("right scripts pass", () => {
  const rows: [what: string, source: string][] = [
    ["nothing", ""],
    ["return", "return 1"],
    ["a call", `const r = await tools.mcp__docs__search({ query: "x" });\nreturn r.structuredContent.items[0].title;`],
    ["structured as in the runtime", `return (await tools.mcp__docs__search({ query: "x" })).structured.total`],
    [
      "text of any block",
      `const r = await tools.mcp__docs__ping();\nreturn r.content[0].text + r.content.at(-1)?.text`,
    ],
    ["no arguments", "await tools.mcp__docs__ping(); await tools.mcp__docs__ping({});"],
    ["an untyped result", "const r = await tools.mcp__docs__raw({ a: 1 }); return r.structuredContent.x.y.z[0]"],
    ["an untyped result's parsed text", "return JSON.parse((await tools.mcp__docs__raw()).content[0].text).foo.bar"],
    ["a word from a list", `for (const kind of ["page", "code"]) await tools.mcp__docs__search({ query: "q", kind });`],
    ["a word from a variable", `const o = { query: "q", kind: "page" }; await tools.mcp__docs__search(o);`],
    ["a built up object", `const a = {}; a.query = "q"; if (a.query) a.limit = 3; return tools.mcp__docs__search(a)`],
    ["a spread of a built up object", `let a = {}; a.query = "q"; await tools.mcp__docs__search({ ...a, limit: 2 });`],
    ["Object.assign", `const a = {}; Object.assign(a, { query: "q" }); await tools.mcp__docs__search(a)`],
    ["a member by name", `const name = "mcp__docs__" + "search"; return tools[name]({ query: "q" })`],
    ["bracketed name", `return tools["mcp__docs__search"]({ query: "q" })`],
    ["destructured tools", `const { mcp__docs__search: search } = tools; return search({ query: "q" })`],
    ["discovery", `const [hit] = await searchTools("docs", { limit: 1 }); return tools[hit.name]({ query: "q" })`],
    [
      "describe",
      `const d = await describeTool("a"); return d.slice(0, 5) + (await describeNamespace("mcp__docs")).instructions`,
    ],
    ["ALL_TOOLS", `return ALL_TOOLS.filter((t) => t.name.startsWith("mcp__")).map((t) => t.description.length)`],
    [
      "settled",
      `const rs = await Promise.allSettled([tools.mcp__docs__ping()]);\nreturn rs.filter((r) => r.status === "fulfilled").map((r) => r.value.content[0].text).concat(rs.map((r) => r.reason?.message))`,
    ],
    [
      "a parallel map",
      `const all = await Promise.all(["a", "b"].map((query) => tools.mcp__docs__search({ query })));\nreturn all.flatMap((r) => r.structuredContent.items).sort((a, b) => b.score - a.score).slice(0, 3)`,
    ],
    ["store", `store("n", (load("n") ?? 0) + 1); return load("n").foo`],
    [
      "output",
      `text({ a: 1 }); text("x"); image("data:image/png;base64,AA=="); image((await tools.mcp__docs__ping()).content[0]); console.log(1, "b"); exit();`,
    ],
    ["let grows", "let x = {}; x.a = 1; x.b = x.a + 1; return x"],
    [
      "let changes type",
      `let x = 1; x = "a"; let y; y = 5; y = "b"; let z = []; z.push(1); z.push("a"); return [x, y, z]`,
    ],
    ["null first", "let best = null; for (const n of [1, 2]) if (!best || n > best.n) best = { n }; return best.n"],
    ["an object as a map", "const by = {}; for (const n of [1]) (by[n] ??= []).push(n); return by.x"],
    ["reduce into an object", "return [1, 2].reduce((sum, n) => { sum[n] = n; sum.total = 1; return sum }, {})"],
    ["fewer arguments to an own function", "function f(a, b) { return b ?? a } return f(1)"],
    ["an own class", "class A { constructor() { this.x = 1 } get y() { return this.x } } return new A().y"],
    [
      "an own error",
      "class E extends Error { constructor(m) { super(m); this.name = 'E'; this.code = 5 } } throw new E('x')",
    ],
    ["a caught error", "try { await tools.mcp__docs__ping() } catch (error) { return error.message + error.code }"],
    ["dates subtracted", `return new Date("2024-01-01") - new Date(0) + (isNaN("x") ? 1 : 0) + parseInt(5)`],
    [
      "newer built-ins",
      "return Object.groupBy([1], String), new Set([1]).union(new Set([2])), [3].toSorted(), Promise.withResolvers(), [1].values().map(String).toArray()",
    ],
    [
      "a guarded global",
      `if (typeof Intl !== "undefined") return Intl.NumberFormat; if (typeof fetch === "function") fetch("x")`,
    ],
    [
      "unions by hand",
      `const p = (await tools.mcp__geo__find({ at: "Oslo" })).structuredContent; return p.people ?? p.metres`,
    ],
    [
      "unions by type",
      `const p = (await tools.mcp__geo__find({ at: [1, 2] })).structuredContent; return p.type === "city" ? p.people : p.metres`,
    ],
    [
      "null to go on",
      "let next = null; do { const r = await tools.mcp__docs__search({ query: next ?? 'a' }); next = r.structuredContent.next } while (next)",
    ],
    [
      "an open schema",
      `const r = await tools.mcp__open__lookup({ identifier: "a", verbose: true }); return r.structuredContent.humidity`,
    ],
    [
      "own fields on a result",
      "const r = await tools.mcp__docs__search({ query: 'a' }); r.seen = true; return { ...r, more: 1 }",
    ],
    [
      "entries",
      "const r = await tools.mcp__docs__search({ query: 'a' }); for (const [k, v] of Object.entries(r.structuredContent)) text(k + v);",
    ],
    ["numbers as strings", "return [1, 2].includes('1') || [1].join() === 2 || Math.max('3', 4) || JSON.parse({})"],
    ["an options line", '// @options: {"timeout_ms": 1000}\nreturn 1'],
    ["a JSDoc with odd types", "/** @param {Foo} x @returns {Bar<} */ function f(x) { return x.y } return f({})"],
    ["duplicate keys", "return { a: 1, a: 2 }"],
    [
      "TypeScript",
      `interface Hit { id: string; title?: string }\nconst hits: Hit[] = (await tools.mcp__docs__search({ query: "x" as string })).structuredContent.items;\nconst by = new Map<string, Hit>(hits.map((h): [string, Hit] => [h.id, h]));\nreturn by.get("a")!.title satisfies string | undefined;`,
    ],
    ["generic functions", `const pick = <T, K extends keyof T>(o: T, k: K): T[K] => o[k]; return pick({ a: 1 }, "a")`],
    [
      "sloppy names of ours",
      "const text2 = 1; const R = 2; const Content = 3; { const text = 5; return text + R + Content }",
    ],
    ["a label and a regular expression", "a: for (const m of 'ab'.matchAll(/(?<x>a)/g)) { if (m.groups.x) break a }"],
  ];
  test.each(rows)("%s", (_, source) => {
    expect(told(source)).toEqual([]);
  });
});

describe("wrong scripts are told", () => {
  const rows: [what: string, source: string, want: string[]][] = [
    ["a tool that isn't there", `await tools.mcp__docs__serch({})`, ["1:13 error: there is no tool mcp__docs__serch"]],
    ["in brackets", `await tools["mcp__docs__serch"]({})`, ["1:13 error: there is no tool mcp__docs__serch"]],
    ["destructured", `const { mcp__docs__serch } = tools;`, ["1:9 error: there is no tool mcp__docs__serch"]],
    [
      "a misspelt argument",
      `await tools.mcp__docs__search({\n  qurey: "x" })`,
      ['2:3 error: mcp__docs__search takes no argument "qurey"; did you mean "query"?'],
    ],
    [
      "an unknown argument",
      `await tools.mcp__docs__search({ query: "x", sort: 1 })`,
      ['1:45 error: mcp__docs__search takes no argument "sort"; it takes filter, kind, limit, query'],
    ],
    [
      "a missing argument",
      `await tools.mcp__docs__search({ limit: 1 })`,
      ['1:31 error: mcp__docs__search: argument "query" missing'],
    ],
    ["no arguments", `await tools.mcp__docs__search()`, ['1:13 error: mcp__docs__search: argument "query" missing']],
    [
      "too many",
      `await tools.mcp__docs__search({ query: "x" }, 5)`,
      ["1:47 error: mcp__docs__search takes one argument"],
    ],
    [
      "a string for the object",
      `await tools.mcp__docs__search("x")`,
      ["1:31 error: mcp__docs__search takes one object: { query, filter?, kind?, limit? }"],
    ],
    [
      "a wrong type",
      `await tools.mcp__docs__search({ query: 5 })`,
      ["1:33 error: query of mcp__docs__search must be string, not 5"],
    ],
    [
      "a wrong type, shorthand",
      `const limit = "5"; await tools.mcp__docs__search({ query: "a", limit })`,
      ["1:64 error: limit of mcp__docs__search must be number, not string"],
    ],
    [
      "a wrong type in a variable",
      `const o = { query: "a", limit: "5" }; await tools.mcp__docs__search(o)`,
      ["1:69 error: limit of mcp__docs__search must be number, not string"],
    ],
    [
      "a word that is none of those",
      `await tools.mcp__docs__search({ query: "a", kind: "pages" })`,
      ['1:45 error: kind of mcp__docs__search must be "page" | "code", not "pages"; did you mean "page"?'],
    ],
    [
      "nested",
      `await tools.mcp__docs__search({ query: "a", filter: { form: "x" } })`,
      ['1:55 error: filter of mcp__docs__search has no "form"; did you mean "from"?'],
    ],
    [
      "nested list",
      `await tools.mcp__docs__search({ query: "a", filter: { from: "x", tags: ["a", 5] } })`,
      ["1:78 error: filter.tags[1] of mcp__docs__search must be string, not 5"],
    ],
    [
      "a field that isn't there",
      `const r = await tools.mcp__docs__search({ query: "a" });\nreturn r.structuredContent.itms.length`,
      ['2:28 error: r.structuredContent has no itms; did you mean "items"?'],
    ],
    [
      "an unrelated field",
      `const r = await tools.mcp__docs__search({ query: "a" });\nreturn r.structuredContent.pages`,
      ["2:28 error: r.structuredContent has no pages; it has items, next, state, total"],
    ],
    [
      "a field of a list",
      `const r = await tools.mcp__docs__search({ query: "a" });\nreturn r.content.text`,
      ["2:18 error: r.content is a list; its elements have text, as in r.content[0].text"],
    ],
    [
      "a field of an element",
      `const r = await tools.mcp__docs__search({ query: "a" });\nreturn r.structuredContent.items.map((i) => i.name)`,
      ["2:47 error: i has no name; it has id, score, title"],
    ],
    [
      "destructured field",
      `const { totl, items: [{ idd }] } = (await tools.mcp__docs__search({ query: "a" })).structuredContent;`,
      [
        '1:9 error: the value has no totl; did you mean "total"?',
        '1:25 error: the value has no idd; did you mean "id"?',
      ],
    ],
    [
      "the result itself",
      `const r = await tools.mcp__docs__search({ query: "a" });\nreturn r.items`,
      ["2:10 error: r has no items; it has content, structuredContent, structured, isError, _meta"],
    ],
    [
      "no await",
      `const r = tools.mcp__docs__search({ query: "a" });\nreturn r.structuredContent`,
      ["2:10 error: r is a promise; structuredContent is there once it is awaited"],
    ],
    [
      "iterating a result",
      `for (const i of await tools.mcp__docs__search({ query: "a" })) text(i)`,
      ['1:17 error: await tools.mcp__docs__search({ query: "a" }) is no list'],
    ],
    [
      "calling a field",
      `(await tools.mcp__docs__search({ query: "a" })).content()`,
      ['1:49 error: (await tools.mcp__docs__search({ query: "a" })).content is not a function'],
    ],
    [
      "never equal",
      `if ((await tools.mcp__docs__search({ query: "a" })).structuredContent.state === "opened") exit()`,
      [
        '1:5 warning: (await tools.mcp__docs__search({ query: "a" })).structuredContent.state is never "opened", only "open", "closed"',
      ],
    ],
    ["a misspelt global", `return serchTools("x")`, ['1:8 error: there is no serchTools; did you mean "searchTools"?']],
    [
      "a misspelt own name",
      `const results = []; return result.length`,
      ['1:28 error: there is no result; did you mean "results"?'],
    ],
    [
      "timers",
      `await new Promise((r) => setTimeout(r, 10))`,
      ["1:26 error: there is no setTimeout: the sandbox has no timers"],
    ],
    [
      "Intl",
      `return new Intl.NumberFormat("de").format(1)`,
      ["1:12 error: there is no Intl: the sandbox has the language's own built-ins only"],
    ],
    [
      "an undeclared assignment",
      `total = 0; for (const n of [1]) total += n; return total`,
      ["1:1 warning: total is never declared"],
    ],
    ["a method that isn't there", `return "abc".contains("b")`, ['1:14 error: "abc".contains is not a function']],
    [
      "wrong globals",
      `store(5, 1); return searchTools({ query: "x" })`,
      [
        "1:7 error: key of store must be string, not 5",
        "1:33 error: query of searchTools must be string, not { query: string; }",
      ],
    ],
    ["a constant", `const n = 1; n = 2;`, ["1:14 error: n is a constant"]],
    [
      "an open result, a slip",
      `const r = await tools.mcp__open__lookup({ identifer: "a" }); return r.structuredContent.temprature`,
      [
        '1:43 error: mcp__open__lookup takes no argument "identifer"; did you mean "identifier"?',
        '1:89 warning: temprature is not declared here; did you mean "temperature"?',
      ],
    ],
    [
      "an open argument, a slip",
      `await tools.mcp__open__lookup({ identifier: "a", langauge: "de" })`,
      ['1:50 warning: langauge is not declared here; did you mean "language"?'],
    ],
    [
      "a wrong union",
      `await tools.mcp__geo__find({ at: 5 })`,
      ["1:30 error: at of mcp__geo__find must be string | number[], not 5"],
    ],
    [
      "a union's field",
      `return (await tools.mcp__geo__find({ at: "a" })).structuredContent.name`,
      ['1:68 error: (await tools.mcp__geo__find({ at: "a" })).structuredContent has no name'],
    ],
    [
      "an annotation",
      `const n: number = (await tools.mcp__docs__search({ query: "a" })).structuredContent.items[0].title; return n`,
      ["1:19 error: n must be number, not string"],
    ],
    [
      "an annotated parameter",
      `function f(n: number) { return n } return f("a")`,
      ['1:45 error: the argument of f must be number, not "a"'],
    ],
    [
      "bracketed field",
      `const r = await tools.mcp__docs__search({ query: "a" }); return r["content"][0]["txt"]`,
      ['1:81 error: r["content"][0] has no txt; did you mean "text"?'],
    ],
    [
      "a method of a list",
      `return (await tools.mcp__docs__search({ query: "a" })).structuredContent.items.filtr((i) => i.id)`,
      [
        '1:80 error: (await tools.mcp__docs__search({ query: "a" })).structuredContent.items has no filtr; did you mean "filter"?',
      ],
    ],
    ["a tool of a server", `await tools.docs.search({ query: "a" })`, ["1:13 error: there is no tool docs"]],
    [
      "a missing nested argument",
      `await tools.mcp__docs__search({ query: "a", filter: { tags: [] } })`,
      ['1:53 error: filter of mcp__docs__search: argument "from" missing'],
    ],
    [
      "an array for a string",
      `await tools.mcp__docs__search({ query: ["a"] })`,
      ["1:33 error: query of mcp__docs__search must be string, not string[]"],
    ],
    [
      "nothing where something is needed",
      `await tools.mcp__docs__search({})`,
      ['1:31 error: mcp__docs__search: argument "query" missing'],
    ],
    [
      "arguments for a tool without",
      `await tools.mcp__docs__ping({ loud: true })`,
      ["1:31 error: mcp__docs__ping takes no arguments"],
    ],
    [
      "an image of what has none",
      `image({ data: "AA==" })`,
      [
        "1:7 error: the argument of image must be string | { image_url: string | { url: string; }; } | { type: string; data: string; mimeType: string;…, not { data: string; }",
      ],
    ],
    ["before it is there", `const a = b + 1; const b = 2; return a`, ["1:11 error: b is used before it is declared"]],
    [
      "fetch and require",
      `const fs = require("fs"); return fetch("https://a.b")`,
      [
        "1:12 error: there is no require: the sandbox has no Node.js; call a tool",
        "1:34 error: there is no fetch: the sandbox has no network; call a tool",
      ],
    ],
    ["an unknown type", `const a: Foo = 1; return a`, ["1:10 warning: there is no type Foo"]],
    [
      "the searchTools result",
      `const hits = await searchTools("a"); return hits.map((h) => h.nam)`,
      ['1:63 error: h has no nam; did you mean "name"?'],
    ],
    [
      "a promise in a map",
      `return ["a"].map((query) => tools.mcp__docs__search({ query }).content)`,
      ["1:64 error: tools.mcp__docs__search({ query }) is a promise; content is there once it is awaited"],
    ],
    [
      "two in one",
      `await tools.mcp__docs__search({ query: 1, limit: "a" })`,
      [
        "1:33 error: query of mcp__docs__search must be string, not 1",
        '1:43 error: limit of mcp__docs__search must be number, not "a"',
      ],
    ],
  ];
  test.each(rows)("%s", (_, source, want) => {
    expect(told(source)).toEqual(want);
  });
});
