/** What a model is told: the same bytes for the same artifacts, in few tokens, and nothing of what is hidden. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadArtifacts } from "../../runtime/artifacts/load.ts";
import { codemodeDescription, renderDescription } from "../../runtime/sandbox/description.ts";
import { layerArtifacts } from "../../schemas/artifacts/layer.ts";
import { openArtifacts } from "../../schemas/artifacts/read.ts";
import { type ArtifactsSpec, buildArtifacts, memoryReader, openSpec, replaceFile } from "../artifacts-builder.ts";

const root = join(import.meta.dirname, "..", "..");
/** Pi's own fixed text, without its line on models. */
const MOST_CHARS = 1_234;

test("the fixed text is short, names every global and has no slot left", () => {
  const text = renderDescription("");
  expect(text.length).toBeLessThan(MOST_CHARS);
  expect(text).not.toMatch(/\{\{|\}\}|```/);
  const declared = readFileSync(join(root, "templates", "script-globals.d.ts"), "utf8");
  const globals = [...declared.matchAll(/^declare (?:const|function) (\w+)/gm)].map(([, name]) => name!);
  expect(globals).toHaveLength(10);
  for (const name of globals) expect(text).toContain(`${name}`);
});

test("declarations stand in it as they are compiled, whatever is in them", () => {
  const hostile = "declare const tools: {\n// $& $' $1 {{globals}}\n};";
  const text = renderDescription(hostile, { globals: ["`models`: classifiers"] });
  expect(text).toContain(`\`\`\`ts\n${hostile}\n\`\`\``);
  expect(text).toContain("\n- `models`: classifiers\n");
});

test("this repository's artifacts give the same bytes each time", () => {
  const describe = () => codemodeDescription(loadArtifacts({ projectOut: join(root, "generated") }).value);
  const text = describe();
  expect(text.ok && text.value).toContain(readFileSync(join(root, "generated", "codemode.d.ts"), "utf8").trimEnd());
  expect(describe()).toEqual(text);
});

test("declarations of the user's that the project hides are not shown", () => {
  const spec: ArtifactsSpec = { scope: "user", servers: [{ name: "mine", tools: ["open", "secret"] }] };
  const files = replaceFile(buildArtifacts(spec), "codemode.d.ts", "declare const tools: { mcp__mine__secret(): R; };");
  const user = openArtifacts("user", memoryReader(files).readFile);
  const described = (overrides: ArtifactsSpec["overrides"]) => {
    const project = openSpec({ scope: "project", servers: [], ...(overrides && { overrides }) });
    const text = codemodeDescription(layerArtifacts({ project, user }).value);
    return text.ok ? text.value : "";
  };
  expect(described(undefined)).toContain("mcp__mine__secret");
  const hidden = described({ mine: { toolExposure: [{ pattern: "secret", exposure: "hidden" }] } });
  expect(hidden).toBe(renderDescription(""));
});

test("the skill has the front matter that skills need", () => {
  const skill = readFileSync(join(root, "templates", "skills", "pimcp", "SKILL.md"), "utf8");
  const [, head] = /^---\n(.*?)\n---\n/s.exec(skill) ?? [];
  const fields = new Map(head!.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  expect(fields.get("name")).toBe("pimcp");
  expect(fields.get("description")!.length).toBeGreaterThan(40);
  expect(fields.get("description")!.length).toBeLessThanOrEqual(1_024);
  // An unquoted YAML scalar with a colon and a blank would be a mapping.
  expect(fields.get("description")).not.toContain(": ");
  expect(skill.length).toBeLessThan(2_500);
});
