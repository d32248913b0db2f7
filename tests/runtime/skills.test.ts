import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { RefusedError, ServerError } from "../../runtime/errors.ts";
import { Stub } from "../cli/pimcp.ts";
import { compiled, count, rejection } from "./runtime-project.ts";

const EXTENSION = { "io.modelcontextprotocol/skills": {} };
const MANIFEST = "---\nname: maps\ndescription: Reads maps\n---\n\nLook north first.\n";
const LEGEND = "A dotted line is a path.\n";
const uri = "skill://maps/SKILL.md";
const legendUri = "skill://maps/legend.md";

const listed = (at: string, text: string) => ({
  uri: at,
  digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
  size: Buffer.byteLength(text),
});
const skill = {
  uri,
  frontmatter: { name: "maps", description: "Reads maps" },
  resources: [listed(uri, MANIFEST), listed(legendUri, LEGEND)],
};

/** A server that lists `entries` and answers each read with the next of `texts`. */
function serving(entries: readonly unknown[], texts: readonly (readonly [uri: string, text: string])[] = []): Stub {
  const reads = texts.map(([at, text]) => ({ result: { contents: [{ uri: at, text }] } }));
  return new Stub({
    capabilities: { tools: {}, resources: {}, extensions: EXTENSION },
    resources: true,
    replies: { "skills/list": { result: { skills: entries } }, "resources/read": reads },
  });
}

async function open(stub: Stub) {
  return (await (await compiled({ s: stub.entry })).runtime()).skills();
}

describe("a skill's files are what the server listed, or an error", () => {
  test("a list reads no file, and a file is read with its frontmatter apart", async () => {
    const stub = serving(
      [skill],
      [
        [uri, MANIFEST],
        [legendUri, LEGEND],
      ],
    );
    const skills = await open(stub);
    const { skills: found, invalid } = await skills.list("s");
    expect(invalid).toEqual([]);
    expect(found).toEqual([skill]);
    expect(count(stub, "resources/read")).toBe(0);
    const manifest = await skills.read("s", found[0]!);
    expect(manifest).toMatchObject({ verified: true, frontmatter: skill.frontmatter, body: "\nLook north first.\n" });
    expect(await skills.read("s", found[0]!, "legend.md")).toMatchObject({ verified: true, text: LEGEND });
  });

  const rows: [what: string, text: string, message: string][] = [
    ["another text of that length", MANIFEST.replace("north", "south"), "has digest"],
    ["a longer text", `${MANIFEST}and then some`, "bytes; the skill entry lists"],
  ];
  test.each(rows)("%s is refused", async (_, text, message) => {
    const skills = await open(serving([skill], [[uri, text]]));
    const error = await rejection<ServerError>(skills.read("s", skill));
    expect(error).toBeInstanceOf(ServerError);
    expect(error.message).toContain('server "s": a skill is not what was listed');
    expect(error.message).toContain(message);
  });

  test("frontmatter that says something else is refused, though digest and size fit", async () => {
    const other = MANIFEST.replace("Reads maps", "Reads mail");
    const entry = { ...skill, resources: [listed(uri, other)] };
    const error = await rejection(open(serving([entry], [[uri, other]])).then((skills) => skills.read("s", entry)));
    expect(error.message).toMatch(/frontmatter .* differs/);
  });

  test("a file that the entry doesn't list is not asked for", async () => {
    const stub = serving([skill], [[uri, MANIFEST]]);
    const skills = await open(stub);
    expect((await rejection(skills.read("s", skill, "../other/SKILL.md"))).message).toContain(
      "is not a file of the skill",
    );
    expect(count(stub, "resources/read")).toBe(0);
  });

  test("an entry that can't be used is told beside the others", async () => {
    const skills = await open(serving([{ uri: "skill://odd/SKILL.md", resources: [] }, skill]));
    const { skills: found, invalid } = await skills.list("s");
    expect(found).toEqual([skill]);
    expect(invalid).toEqual([
      expect.objectContaining({ uri: "skill://odd/SKILL.md", reason: expect.stringContaining("frontmatter") }),
    ]);
  });
});

describe("where there are none", () => {
  test("a server without the extension is not asked", async () => {
    const stub = new Stub({});
    const skills = await open(stub);
    const error = await rejection<RefusedError>(skills.list("s"));
    expect(error).toBeInstanceOf(RefusedError);
    expect(error.reason).toBe("not-offered");
    expect(count(stub, "skills/list")).toBe(0);
  });

  test("a hidden server's are out of reach", async () => {
    const stub = serving([skill]);
    const project = await compiled({ s: { ...stub.entry, exposure: "hidden" } });
    const error = await rejection<RefusedError>((await (await project.runtime()).skills()).list("s"));
    expect(error.reason).toBe("unknown-server");
    expect(count(stub, "skills/list")).toBe(0);
  });
});
