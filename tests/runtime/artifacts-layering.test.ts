/** The user's artifacts below the project's, and what a name then means. */
import { describe, expect, test } from "vitest";
import { search } from "../../runtime/search.ts";
import { layerArtifacts } from "../../schemas/artifacts/layer.ts";
import { openArtifacts } from "../../schemas/artifacts/read.ts";
import { findTarget } from "../../schemas/artifacts/target.ts";
import { type ArtifactsSpec, buildArtifacts, layer, memoryReader, openSpec } from "../artifacts-builder.ts";

describe("layering", () => {
  const mine = { name: "mine", tools: ["get_a", "set_a", { name: "ui", _meta: { ui: { visibility: ["app"] } } }] };
  const shown = (table: ReturnType<typeof layer>) =>
    table.value.tools().map(({ server, tool, exposure }) => `${server}/${tool} ${exposure}`);
  type Overrides = NonNullable<ArtifactsSpec["overrides"]>;

  test("a project server replaces the user's of the same name as a whole", () => {
    const table = layer(
      { servers: [{ name: "s", tools: ["new"] }] },
      { servers: [{ name: "s", tools: ["new", "old"] }, mine] },
    );
    expect(table.diagnostics).toEqual([]);
    expect(table.value.server("s")!.scope).toBe("project");
    expect(table.value.tools({ server: "s" }).map((tool) => tool.tool)).toEqual(["new"]);
    expect(table.value.byName("mcp__s__old", { includeHidden: true })).toBeUndefined();
    expect(search(table.value, "old")).toEqual({ ok: true, value: [] });
    const found = search(table.value, "new");
    expect(found.ok && found.value.map((result) => result.server)).toEqual(["s"]);
    expect(table.value.servers().map((server) => server.name)).toEqual(["mine", "s"]);
  });

  const rows: [what: string, overrides: Overrides, want: string[]][] = [
    ["nothing", {}, ["mine/get_a codemode", "mine/set_a codemode"]],
    ["enabled: false", { mine: { enabled: false } }, []],
    ["enabled: true", { mine: { enabled: true } }, ["mine/get_a codemode", "mine/set_a codemode"]],
    ["exposure", { mine: { exposure: "deferred" } }, ["mine/get_a deferred", "mine/set_a deferred"]],
    ["exposure hidden", { mine: { exposure: "hidden" } }, []],
    ["a pattern", { mine: { toolExposure: [{ pattern: "set_*", exposure: "hidden" }] } }, ["mine/get_a codemode"]],
    [
      "exact before pattern",
      {
        mine: {
          toolExposure: [
            { pattern: "*", exposure: "hidden" },
            { pattern: "set_a", exposure: "direct" },
          ],
        },
      },
      ["mine/set_a direct"],
    ],
    [
      "a tool not for the model named",
      { mine: { toolExposure: [{ pattern: "ui", exposure: "direct" }] } },
      ["mine/get_a codemode", "mine/set_a codemode", "mine/ui direct"],
    ],
    [
      "a tool not for the model by pattern",
      { mine: { toolExposure: [{ pattern: "*", exposure: "direct" }] } },
      ["mine/get_a direct", "mine/set_a direct"],
    ],
    [
      "a server nobody has",
      { zz: { enabled: false }, __proto__x: { exposure: "hidden" } },
      ["mine/get_a codemode", "mine/set_a codemode"],
    ],
  ];
  test.each(rows)("an override of %s", (_, overrides, want) => {
    const table = layer({ overrides }, { servers: [mine] });
    expect(shown(table)).toEqual(want);
    expect(table.diagnostics).toEqual([]);
  });

  test("an override of one field keeps the user's other", () => {
    const user = { servers: [{ ...mine, exposure: "direct" as const, toolExposure: { set_a: "deferred" as const } }] };
    expect(shown(layer({ overrides: { mine: { exposure: "codemode" } } }, user))).toEqual([
      "mine/get_a codemode",
      "mine/set_a deferred",
    ]);
    const ruled = layer({ overrides: { mine: { toolExposure: [] } } }, user);
    expect(shown(ruled)).toEqual(["mine/get_a direct", "mine/set_a direct"]);
    expect(ruled.value.byTool("mine", "set_a")!.rule).toBe("server");
  });

  test("search follows overrides both ways", () => {
    const user = { servers: [{ name: "mine", toolExposure: { a_one: "hidden" as const }, tools: ["a_one", "a_two"] }] };
    const found = (overrides: Overrides) => {
      const result = search(layer({ overrides }, user).value, "a_one a_two");
      return result.ok && result.value.map((tool) => tool.tool).sort();
    };
    expect(found({})).toEqual(["a_two"]);
    expect(found({ mine: { toolExposure: [{ pattern: "a_two", exposure: "hidden" }] } })).toEqual(["a_one"]);
    expect(found({ mine: { toolExposure: [] } })).toEqual(["a_one", "a_two"]);
  });

  test("limits: tool, else server, else the project's, else the user's", () => {
    const user: ArtifactsSpec = {
      defaultLimit: { maxOutputBytes: 300, source: "user" },
      servers: [
        {
          name: "u",
          tools: [
            { name: "own", limit: { maxOutputBytes: 1, source: "tool" } },
            { name: "served", limit: { maxOutputBytes: 2, source: "server" } },
            { name: "plain" },
          ],
        },
      ],
    };
    const limits = (project: ArtifactsSpec | undefined) =>
      Object.fromEntries(
        layer(project, user)
          .value.tools()
          .map((tool) => [`${tool.server}/${tool.tool}`, `${tool.maxOutputBytes} ${tool.limitSource}`]),
      );
    const plain = { servers: [{ name: "p", tools: ["x"] }] };
    expect(limits(undefined)).toEqual({ "u/own": "1 tool", "u/served": "2 server", "u/plain": "300 user" });
    expect(limits(plain)).toEqual({
      "p/x": "300 user",
      "u/own": "1 tool",
      "u/served": "2 server",
      "u/plain": "300 user",
    });
    expect(limits({ ...plain, defaultLimit: { maxOutputBytes: 400, source: "project" } })).toEqual({
      "p/x": "400 project",
      "u/own": "1 tool",
      "u/served": "2 server",
      "u/plain": "400 project",
    });
    expect(limits({ overrides: { u: { maxOutputBytes: 5 } } })).toEqual({
      "u/own": "1 tool",
      "u/served": "5 server",
      "u/plain": "5 server",
    });
  });

  test("servers that differ only in - and _ are reported and the project's is used", () => {
    const table = layer(
      { servers: [{ name: "a-b", tools: ["x"] }] },
      { servers: [{ name: "a_b", tools: ["x", "y"] }] },
    );
    expect(table.diagnostics.map((found) => found.code)).toEqual(["server-name-collision"]);
    expect(table.diagnostics[0]!.message).toMatch(/"a-b".*"a_b"/);
    expect(shown(table)).toEqual(["a-b/x codemode"]);
  });

  test("tools of two scopes that fold to one name are reported and the project's is used", () => {
    const table = layer(
      { servers: [{ name: "a__b", tools: ["c"] }] },
      { servers: [{ name: "a", tools: ["b__c", "d"] }] },
    );
    expect(table.diagnostics.map((found) => found.code)).toEqual(["tool-name-collision"]);
    expect(table.diagnostics[0]!.message).toMatch(/"a__b\/c".*"a\/b__c"/);
    expect(table.value.byName("mcp__a__b__c")!.server).toBe("a__b");
    expect(table.value.byTool("a", "b__c")).toBeUndefined();
    expect(shown(table)).toEqual(["a/d codemode", "a__b/c codemode"]);
  });

  test("a hidden project tool keeps its name from a user's tool", () => {
    const table = layer(
      { servers: [{ name: "a__b", exposure: "hidden", tools: ["c"] }] },
      { servers: [{ name: "a", tools: ["b__c"] }] },
    );
    expect(table.value.byName("mcp__a__b__c")).toBeUndefined();
    expect(search(table.value, "mcp__a__b__c")).toEqual({ ok: true, value: [] });
  });

  test("torn project artifacts take the user's with them, torn user artifacts only themselves", () => {
    const tear = (spec: ArtifactsSpec) => {
      const files = buildArtifacts(spec);
      files.set("exposure.json", "{}");
      return openArtifacts("torn", memoryReader(files).readFile);
    };
    const user = openSpec({ scope: "user", servers: [mine] });
    const project = openSpec({ servers: [{ name: "p", tools: ["x"] }] });
    const tornProject = layerArtifacts({ project: tear({}), user });
    expect(tornProject.value.tools({ includeHidden: true })).toEqual([]);
    expect(tornProject.diagnostics.map((found) => found.code)).toEqual(["artifacts-torn"]);
    const tornUser = layerArtifacts({ project, user: tear({ scope: "user" }) });
    expect(shown(tornUser)).toEqual(["p/x codemode"]);
    expect(tornUser.diagnostics.map((found) => found.code)).toEqual(["artifacts-torn"]);
  });

  test("a tool taken out of the declarations by the project does not count as declared", () => {
    const declared = (overrides: Overrides) => {
      const table = layer({ overrides }, { servers: [mine] }).value;
      const count = table.tokens(table.byTool("mine", "get_a")!);
      return count.ok && count.value;
    };
    expect(declared({})).toEqual({ tokens: 10, declared: true });
    expect(declared({ mine: { exposure: "deferred" } })).toEqual({ tokens: 10, declared: false });
  });
});

describe("targets", () => {
  const table = layer(
    {
      servers: [
        { name: "dev-radius", tools: ["search", "a.b/c"] },
        { name: "other", tools: ["search", "only"] },
      ],
    },
    undefined,
  ).value;
  const rows: [name: string, want: string][] = [
    ["mcp__dev_radius__search", "dev-radius/search"],
    ["dev-radius/search", "dev-radius/search"],
    ["dev-radius.search", "dev-radius/search"],
    ["dev-radius/a.b/c", "dev-radius/a.b/c"],
    ["dev-radius.a.b/c", "dev-radius/a.b/c"],
    ["a.b/c", "dev-radius/a.b/c"],
    ["only", "other/only"],
    ["dev-radius", "dev-radius"],
    ["dev_radius", "dev-radius"],
    ["mcp__dev-radius", "dev-radius"],
    ["search", "ambiguous-tool dev-radius, other"],
    ["onli", "unknown-tool other/only"],
    ["other/serch", "unknown-tool other/search"],
    ["nothing like it", "unknown-tool pimcp list"],
    ["", "unknown-tool pimcp list"],
  ];
  test.each(rows)("%s", (name, want) => {
    const target = findTarget(table, name);
    if (target.ok) {
      const { value } = target;
      expect(value.kind === "tool" ? `${value.tool.server}/${value.tool.tool}` : value.server.name).toBe(want);
    } else {
      const [code, ...told] = want.split(" ");
      expect(target.diagnostic.code).toBe(code);
      expect(target.diagnostic.message).toContain(told.join(" "));
    }
  });
});
