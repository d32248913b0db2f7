/** Artifacts of the last compile that somebody edited: whole by their digests, and of another shape. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sha256 } from "../../schemas/canonical.ts";
import { Stub, tool } from "../cli/pimcp.ts";
import { RuntimeProject } from "../runtime/runtime-project.ts";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Path = readonly (string | number)[];
const STRANGE: readonly Json[] = [null, 7, "x", [7], { a: 7 }];

/** One server with everything that artifacts can hold; its entry has a mistake now, so that they are all there is of it. */
async function compiledServer() {
  const stub = new Stub({
    era: "modern",
    capabilities: { tools: {}, prompts: {} },
    instructions: "Ask first",
    tools: [{ ...tool("echo"), annotations: { readOnlyHint: true }, _meta: { ui: { visibility: ["model"] } } }],
    prompts: [{ name: "p", description: "d", arguments: [{ name: "a" }] }],
  });
  const project = new RuntimeProject();
  const settings = { exposure: "direct", toolExposure: { "e*": "deferred" }, description: "Says", maxOutputBytes: 5 };
  project.servers({ s: { ...stub.entry, ...settings } });
  expect((await project.compileInProcess()).filter(({ severity }) => severity === "error")).toEqual([]);
  project.write("project/mcp.json", '{"mcpServers":{"s":{}}}');
  const out = join(project.project, "generated");
  const read = (path: string) => readFileSync(join(out, path), "utf8");
  const manifest = JSON.parse(read("manifest.json")) as { files: Record<string, string> };
  return {
    /** The file as JSON. */
    value: (path: string) => JSON.parse(read(path)) as Json,
    /** What a compile would do with this in the file's place, where the manifest says that it is right. */
    async compileWith(path: string, value: Json): Promise<void> {
      const text = JSON.stringify(value);
      const files = { ...manifest.files, [path]: sha256(text) };
      project.write("project/generated/manifest.json", { ...manifest, files });
      project.write(`project/generated/${path}`, text);
      await project.compileInProcess({}, { offline: true, check: true });
    },
  };
}

/** Every place in a value, its own first. */
function places(value: Json, path: Path = []): Path[] {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const below = members.map(([key, member]) => places(member, [...path, Array.isArray(value) ? Number(key) : key]));
  return [path, ...below.flat()];
}

function replaced(value: Json, [key, ...rest]: Path, by: Json): Json {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? replaced(item, rest, by) : item));
  const object = value as { [key: string]: Json };
  return { ...object, [key]: replaced(object[key]!, rest, by) };
}

test.each(["catalog.json", "exposure.json", "limits.json", "manifest.json"])(
  "%s with a value of another kind at any place: a compile ends with what it can use",
  async (path) => {
    const { value, compileWith } = await compiledServer();
    const whole = value(path);
    const thrown: string[] = [];
    for (const place of places(whole)) {
      for (const strange of STRANGE) {
        await compileWith(path, replaced(whole, place, strange)).catch((error: Error) => {
          thrown.push(`/${place.join("/")} = ${JSON.stringify(strange)}: ${error.stack}`);
        });
      }
    }
    expect(thrown).toEqual([]);
  },
  120_000,
);
