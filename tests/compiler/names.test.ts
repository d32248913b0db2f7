import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { camelCase, foldIdentifiers, foldToolNames, MAX_TOOL_NAME_LENGTH, namespaceOf } from "../../schemas/names.ts";

const of = (server: string, ...tools: string[]) => tools.map((tool) => ({ server, tool }));

describe("tool names", () => {
  test("fold everything but letters, digits and underscores", () => {
    expect(foldToolNames(of("dev-radius", "search", "get.it", "a/b"))).toEqual([
      "mcp__dev_radius__search",
      "mcp__dev_radius__get_it",
      "mcp__dev_radius__a_b",
    ]);
    expect(namespaceOf("dev-radius")).toBe("mcp__dev_radius");
  });

  test("all tools that fold to one name get a suffix, whatever their order", () => {
    const [dash, underscore] = foldToolNames(of("fs", "read-file", "read_file"));
    expect(dash).toMatch(/^mcp__fs__read_file_[0-9a-f]{8}$/);
    expect(underscore).toMatch(/^mcp__fs__read_file_[0-9a-f]{8}$/);
    expect(foldToolNames(of("fs", "read_file", "read-file"))).toEqual([underscore, dash]);
  });

  test("tools of two servers that fold to one name are told apart", () => {
    const names = foldToolNames([...of("a", "b__c"), ...of("a__b", "c")]);
    expect(new Set(names).size).toBe(2);
  });

  test("names over 64 characters that differ only in the last stay distinct", () => {
    const long = "x".repeat(64);
    const tools = of("s", `${long}a`, `${long}b`);
    const names = foldToolNames(tools);
    expect(new Set(names).size).toBe(2);
    expect(names.every((name) => name.length <= MAX_TOOL_NAME_LENGTH)).toBe(true);
    expect(foldToolNames([...tools].reverse())).toEqual([...names].reverse());
  });

  test("a tool named like another's suffixed name is told apart too", () => {
    const [suffixed] = foldToolNames(of("s", "a-b", "a_b"));
    const impostor = suffixed!.slice("mcp__s__".length);
    const names = foldToolNames(of("s", "a-b", "a_b", impostor));
    expect(new Set(names).size).toBe(3);
  });

  test("any tools get distinct valid names that do not depend on order", () => {
    const tool = fc.record({
      server: fc.constantFrom("a", "a-b", "a__b"),
      tool: fc.string({ minLength: 1, unit: "binary" }),
    });
    fc.assert(
      fc.property(fc.uniqueArray(tool, { selector: (ref) => JSON.stringify(ref), maxLength: 30 }), (refs) => {
        const names = foldToolNames(refs);
        expect(new Set(names).size).toBe(refs.length);
        for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_]{1,64}$/);
        expect(foldToolNames([...refs].reverse())).toEqual([...names].reverse());
      }),
    );
  });
});

describe("identifiers in stubs", () => {
  test.each([
    ["two-words", "twoWords"],
    ["get_forecast", "getForecast"],
    ["getForecast", "getForecast"],
    ["HTTPServer", "httpServer"],
    ["URL", "url"],
    ["API-get-user", "apiGetUser"],
    ["9lives", "_9lives"],
    ["export", "export_"],
    ["delete", "delete_"],
    ["constructor", "constructor_"],
    ["then", "then_"],
    ["__proto__", "proto"],
    ["größe", "größe"],
    ["🎉", "_"],
    ["", "_"],
    ["a.b/c", "aBC"],
  ])("%s becomes %s", (original, want) => expect(camelCase(original)).toBe(want));

  test("two that fold into one get a suffix that does not depend on order", () => {
    const [dash, underscore, other] = foldIdentifiers(["read-file", "read_file", "write"]);
    expect(dash).toMatch(/^readFile_[0-9a-f]{6}$/);
    expect(other).toBe("write");
    expect(foldIdentifiers(["write", "read_file", "read-file"])).toEqual([other, underscore, dash]);
  });

  test("any names become distinct identifiers", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: "binary" }), { maxLength: 20 }), (originals) => {
        const names = foldIdentifiers(originals);
        expect(new Set(names).size).toBe(originals.length);
        for (const name of names) expect(() => new Function(`"use strict"; const ${name} = 1;`)).not.toThrow();
      }),
    );
  });
});
