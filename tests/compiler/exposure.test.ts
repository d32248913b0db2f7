import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Exposure } from "../../schemas/config/server-config.ts";
import { decideExposure, type ExposureSettings, matchesPattern, unmatchedRules } from "../../schemas/exposure.ts";

function settings(rules: readonly (readonly [string, Exposure])[], exposure?: Exposure): ExposureSettings {
  const toolExposure = rules.map(([pattern, exposed]) => ({ pattern, exposure: exposed }));
  return exposure === undefined ? { toolExposure } : { exposure, toolExposure };
}
const app = { ui: { visibility: ["app"] } };

describe("which rule decides", () => {
  test.each<[string, ExposureSettings, { name: string; _meta?: unknown }, Exposure, string]>([
    ["nothing", settings([]), { name: "a" }, "codemode", "default"],
    ["the server", settings([], "deferred"), { name: "a" }, "deferred", "server"],
    ["an exact name", settings([["a", "direct"]], "hidden"), { name: "a" }, "direct", "toolExposure:a"],
    [
      "an exact name beats an earlier pattern",
      settings([
        ["*", "hidden"],
        ["a", "direct"],
      ]),
      { name: "a" },
      "direct",
      "toolExposure:a",
    ],
    [
      "the first pattern that matches",
      settings([
        ["b*", "direct"],
        ["a*", "hidden"],
        ["*", "deferred"],
      ]),
      { name: "ab" },
      "hidden",
      "toolExposure:a*",
    ],
    ["no rule matches", settings([["b*", "direct"]], "deferred"), { name: "ab" }, "deferred", "server"],
    [
      "a tool that is named like a pattern",
      settings([
        ["a*", "hidden"],
        ["a*b", "direct"],
      ]),
      { name: "a*b" },
      "direct",
      "toolExposure:a*b",
    ],
    ["not for the model", settings([["a*", "direct"]], "direct"), { name: "ab", _meta: app }, "hidden", "visibility"],
    [
      "not for the model, but named",
      settings([["ab", "direct"]]),
      { name: "ab", _meta: app },
      "direct",
      "toolExposure:ab",
    ],
    ["for nobody", settings([]), { name: "a", _meta: { ui: { visibility: [] } } }, "hidden", "visibility"],
    ["for both", settings([]), { name: "a", _meta: { ui: { visibility: ["app", "model"] } } }, "codemode", "default"],
    [
      "visibility that is no list",
      settings([]),
      { name: "a", _meta: { ui: { visibility: "app" } } },
      "codemode",
      "default",
    ],
    ["odd metadata", settings([]), { name: "a", _meta: { ui: null } }, "codemode", "default"],
    [
      "inherited metadata is not the server's",
      settings([]),
      { name: "a", _meta: Object.create(app) },
      "codemode",
      "default",
    ],
    ["names that objects have anyway", settings([], "hidden"), { name: "constructor" }, "hidden", "server"],
  ])("%s", (_, config, tool, exposure, rule) => {
    expect(decideExposure(config, tool)).toEqual({ exposure, rule });
  });
});

describe("patterns", () => {
  test.each<[string, string, boolean]>([
    ["*", "", true],
    ["*", "anything\nat all", true],
    ["", "", true],
    ["", "a", false],
    ["get_*", "get_", true],
    ["get_*", "get", false],
    ["*_file", "read_file", true],
    ["*_file", "read_files", false],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["a*bc*c", "abc", false],
    ["**", "x", true],
    ["a.b", "axb", false],
    ["a.*", "axb", false],
    ["[ab]*", "a", false],
    ["(a|b)*$", "(a|b)x$", true],
    ["Get*", "get", false],
    ["git", "git_hub", false],
  ])("%j and %j: %s", (pattern, name, want) => {
    expect(matchesPattern(pattern, name)).toBe(want);
  });

  test("agree with the obvious recursive definition", () => {
    const obvious = (pattern: string, name: string): boolean => {
      if (pattern === "") return name === "";
      if (pattern[0] === "*")
        return obvious(pattern.slice(1), name) || (name !== "" && obvious(pattern, name.slice(1)));
      return name[0] === pattern[0] && obvious(pattern.slice(1), name.slice(1));
    };
    const text = (alphabet: string) =>
      fc.array(fc.constantFrom(...alphabet), { maxLength: 8 }).map((letters) => letters.join(""));
    fc.assert(
      fc.property(text("ab*"), text("ab"), (pattern, name) => matchesPattern(pattern, name) === obvious(pattern, name)),
      { numRuns: 2000 },
    );
  });

  test("a hostile pattern and name are compared at once", () => {
    // With backtracking this would need some 10^30 steps and not end.
    expect(matchesPattern(`${"a*".repeat(50)}b`, "a".repeat(100_000))).toBe(false);
    expect(matchesPattern(`${"*a".repeat(50)}b*c`, `${"a".repeat(100_000)}c`)).toBe(false);
  });
});

test("rules that match nothing are found", () => {
  const config = settings([
    ["read*", "direct"],
    ["reed*", "hidden"],
    ["wirte", "hidden"],
    ["write", "direct"],
  ]);
  expect(unmatchedRules(config, ["read_file", "write"]).map((rule) => rule.pattern)).toEqual(["reed*", "wirte"]);
  expect(unmatchedRules(config, [])).toHaveLength(4);
});
