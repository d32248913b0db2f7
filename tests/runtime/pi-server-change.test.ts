/** Which file a change goes to, what is written there, and what the configuration means afterwards. */
import { describe, expect, test } from "vitest";
import type { CandidateFile } from "../../runtime/connect/configuration-files.ts";
import { planChange, type ServerChange } from "../../runtime/pi/servers/server-change.ts";
import { editSource } from "../../schemas/config/edit-source.ts";
import { layerConfiguration } from "../../schemas/config/layers.ts";
import type { ServerConfig } from "../../schemas/config/server-config.ts";
import { parseConfigSource } from "../../schemas/config/source.ts";
import { decideExposure } from "../../schemas/exposure.ts";

const FILES: readonly CandidateFile[] = [
  { path: "/agent/mcp.json", display: "~/mcp.json", scope: "user" },
  { path: "/p/.mcp.json", display: ".mcp.json", scope: "project" },
  { path: "/p/mcp.json", display: "mcp.json", scope: "project" },
  { path: "/p/.pi/mcp.json", display: ".pi/mcp.json", scope: "project" },
];

/** Entries of the server `s`, by the file that has them. */
type Entries = Readonly<Record<string, object | undefined>>;

function textsOf(entries: Entries): Map<string, string> {
  const present = Object.entries(entries).filter(([, entry]) => entry !== undefined);
  return new Map(present.map(([file, entry]) => [file, JSON.stringify({ mcpServers: { s: entry } }, undefined, 2)]));
}

function serverOf(texts: ReadonlyMap<string, string>): ServerConfig {
  const { value } = layerConfiguration({
    files: FILES.map((file) => ({ ...file, text: texts.get(file.display) })),
    projectDir: "/p",
    agentDir: "/agent",
    sessionDir: "/p",
    defaultOut: { project: "/p/generated", user: "/agent/generated" },
  });
  return value.servers.find(({ name }) => name === "s")!;
}

/** The entries afterwards, or why nothing may be changed. */
function changed(
  entries: Entries,
  change: ServerChange,
  inProject = false,
): { entries: Entries; server: ServerConfig } | string {
  const texts = textsOf(entries);
  const sources = FILES.map((file) => {
    const text = texts.get(file.display);
    const { root } = parseConfigSource(text ?? "{}", file.display);
    const servers = root?.kind === "object" ? root.members.get("mcpServers")?.value : undefined;
    const entry = servers?.kind === "object" ? servers.members.get("s")?.value : undefined;
    return { file, exists: text !== undefined, entry: entry?.kind === "object" ? entry : undefined };
  });
  const plan = planChange({ server: serverOf(texts), sources, change, inProject });
  if (!plan.ok) return plan.message;
  for (const { file, edits } of plan.changes) {
    const edited = editSource(texts.get(file.display) ?? "{}", file.display, edits);
    if (!edited.ok) throw new Error(edited.diagnostic.message);
    texts.set(file.display, edited.text);
  }
  const after = [...texts].map(([file, text]) => [file, JSON.parse(text).mcpServers?.s] as const);
  return { entries: Object.fromEntries(after.filter(([, entry]) => entry !== undefined)), server: serverOf(texts) };
}

const on = { kind: "enabled", enabled: true } as const;
const off = { kind: "enabled", enabled: false } as const;
const x = { command: "x" };

describe("on and off", () => {
  const rows: [what: string, before: Entries, change: ServerChange, inProject: boolean, after: Entries][] = [
    ["off, where it is defined", { "~/mcp.json": x }, off, false, { "~/mcp.json": { ...x, enabled: false } }],
    ["on is the default", { "mcp.json": { ...x, enabled: false } }, on, false, { "mcp.json": x }],
    [
      "in the highest file that has it",
      { "~/mcp.json": x, ".mcp.json": { url: "http://y" } },
      off,
      false,
      { "~/mcp.json": x, ".mcp.json": { url: "http://y", enabled: false } },
    ],
    [
      "in the override there is",
      { "~/mcp.json": x, ".pi/mcp.json": { exposure: "direct" } },
      off,
      false,
      { "~/mcp.json": x, ".pi/mcp.json": { exposure: "direct", enabled: false } },
    ],
    [
      "an override says on in so many words",
      { "~/mcp.json": x, "mcp.json": { enabled: false } },
      on,
      false,
      { "~/mcp.json": x, "mcp.json": { enabled: true } },
    ],
    [
      "on in both files that turn it off",
      { "~/mcp.json": { ...x, enabled: false }, "mcp.json": { enabled: false } },
      on,
      false,
      { "~/mcp.json": x, "mcp.json": { enabled: true } },
    ],
    [
      "off for the project, in a file that is made",
      { "~/mcp.json": x },
      off,
      true,
      { "~/mcp.json": x, ".pi/mcp.json": { enabled: false } },
    ],
    [
      "off for the project, in the highest file there is",
      { "~/mcp.json": x, ".mcp.json": {} },
      off,
      true,
      { "~/mcp.json": x, ".mcp.json": { enabled: false } },
    ],
    [
      "on again for the project",
      { "~/mcp.json": x, "mcp.json": { enabled: false } },
      on,
      true,
      { "~/mcp.json": x, "mcp.json": { enabled: true } },
    ],
    [
      "what lies below a definition is left alone",
      { "~/mcp.json": { ...x, enabled: false }, "mcp.json": { ...x, enabled: false } },
      on,
      false,
      { "~/mcp.json": { ...x, enabled: false }, "mcp.json": x },
    ],
    [
      "malformed counts as off",
      { "mcp.json": x, ".pi/mcp.json": { enabled: "no" } },
      on,
      false,
      { "mcp.json": x, ".pi/mcp.json": { enabled: true } },
    ],
  ];
  test.each(rows)("%s", (_, before, change, inProject, after) => {
    const outcome = changed(before, change, inProject);
    expect(outcome).toMatchObject({ entries: after });
    if (typeof outcome !== "string" && change.kind === "enabled") expect(outcome.server.enabled).toBe(change.enabled);
  });

  test("what the user turned off can't be turned on for a project", () => {
    expect(changed({ "~/mcp.json": { ...x, enabled: false }, "mcp.json": {} }, on, true)).toContain(
      "is disabled in ~/mcp.json",
    );
  });
});

describe("exposure", () => {
  const tool = (name: string, exposure: "direct" | "hidden" | "codemode" | "inherit") =>
    ({ kind: "tool-exposure", tool: name, exposure }) as const;
  const rows: [what: string, before: Entries, change: ServerChange, inProject: boolean, after: Entries][] = [
    [
      "of a server",
      { "mcp.json": x },
      { kind: "exposure", exposure: "deferred" },
      false,
      { "mcp.json": { ...x, exposure: "deferred" } },
    ],
    [
      "codemode is the default",
      { "mcp.json": { ...x, exposure: "direct" } },
      { kind: "exposure", exposure: "codemode" },
      false,
      { "mcp.json": x },
    ],
    [
      "but not of an override",
      { "~/mcp.json": { ...x, exposure: "direct" }, "mcp.json": { exposure: "hidden" } },
      { kind: "exposure", exposure: "codemode" },
      false,
      { "~/mcp.json": { ...x, exposure: "direct" }, "mcp.json": { exposure: "codemode" } },
    ],
    [
      "of a tool",
      { "mcp.json": x },
      tool("a", "hidden"),
      false,
      { "mcp.json": { ...x, toolExposure: { a: "hidden" } } },
    ],
    [
      "of a tool, against a pattern",
      { "mcp.json": { ...x, toolExposure: { "a*": "hidden" } } },
      tool("ab", "codemode"),
      false,
      { "mcp.json": { ...x, toolExposure: { "a*": "hidden", ab: "codemode" } } },
    ],
    [
      "what it is anyway needs no rule",
      { "mcp.json": { ...x, toolExposure: { a: "hidden", b: "direct" } } },
      tool("a", "codemode"),
      false,
      { "mcp.json": { ...x, toolExposure: { b: "direct" } } },
    ],
    [
      "the last rule takes the object with it",
      { "mcp.json": { ...x, toolExposure: { a: "hidden" } } },
      tool("a", "inherit"),
      false,
      { "mcp.json": x },
    ],
    ["of a tool without a rule, to what it is", { "mcp.json": x }, tool("a", "codemode"), false, { "mcp.json": x }],
    [
      "an override takes along the rules that it replaces",
      { "~/mcp.json": { ...x, toolExposure: { "1": "direct", "w*": "hidden" } }, "mcp.json": { exposure: "deferred" } },
      tool("a", "direct"),
      false,
      {
        "~/mcp.json": { ...x, toolExposure: { "1": "direct", "w*": "hidden" } },
        "mcp.json": { exposure: "deferred", toolExposure: { "1": "direct", "w*": "hidden", a: "direct" } },
      },
    ],
    [
      "an override's own rules are changed one by one",
      { "~/mcp.json": { ...x, toolExposure: { a: "hidden" } }, "mcp.json": { toolExposure: { b: "direct" } } },
      tool("b", "inherit"),
      false,
      { "~/mcp.json": { ...x, toolExposure: { a: "hidden" } }, "mcp.json": { toolExposure: {} } },
    ],
    [
      "a name that is every object's",
      { "mcp.json": x },
      tool("__proto__", "hidden"),
      false,
      { "mcp.json": { ...x, toolExposure: JSON.parse('{"__proto__":"hidden"}') } },
    ],
  ];
  test.each(rows)("%s", (_, before, change, inProject, after) => {
    const outcome = changed(before, change, inProject);
    expect(outcome).toMatchObject({ entries: after });
    expect(JSON.stringify((outcome as { entries: Entries }).entries)).toBe(JSON.stringify(after));
    if (typeof outcome === "string" || change.kind !== "tool-exposure" || change.exposure === "inherit") return;
    expect(decideExposure(outcome.server, { name: change.tool }).exposure).toBe(change.exposure);
  });

  test("a server's own mark on a tool counts as what it is anyway", () => {
    const change = { ...tool("a", "hidden"), meta: { ui: { visibility: ["app"] } } };
    expect(changed({ "mcp.json": { ...x, toolExposure: { a: "direct" } } }, change)).toMatchObject({
      entries: { "mcp.json": x },
    });
  });
});
