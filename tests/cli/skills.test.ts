import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { Stub, Workspace } from "./pimcp.ts";

const MANIFEST = "---\nname: maps\ndescription: Reads maps\n---\n\nLook north first.\n";
const uri = "skill://maps/SKILL.md";
const digest = `sha256:${createHash("sha256").update(MANIFEST).digest("hex")}`;
const skill = {
  uri,
  frontmatter: { name: "maps", description: "Reads maps" },
  resources: [{ uri, digest, size: Buffer.byteLength(MANIFEST) }],
};

/** A compiled project with a server that has the skill and sends `text` as its SKILL.md. */
async function project(text: string): Promise<Workspace> {
  const work = new Workspace();
  const stub = new Stub({
    capabilities: { tools: {}, resources: {}, extensions: { "io.modelcontextprotocol/skills": {} } },
    resources: true,
    replies: {
      "skills/list": { result: { skills: [skill, { uri: "skill://odd" }] } },
      "resources/read": { result: { contents: [{ uri, text }] } },
    },
  });
  work.servers({ s: stub.entry });
  expect((await work.compile()).code).toBe(0);
  return work;
}

test("skills are listed, and one that is what was listed is printed", async () => {
  const work = await project(MANIFEST);
  const list = await work.run("skills", "s");
  expect(list).toMatchObject({ code: 0, stdout: "maps (1 file)\n  Reads maps\n" });
  expect(list.stderr).toContain("skill://odd can't be used");
  expect(JSON.parse((await work.run("skills", "s", "--json")).stdout)).toEqual({ skills: [skill] });
  expect(await work.run("skills", "s", "maps")).toMatchObject({ code: 0, stdout: MANIFEST });
  const json = JSON.parse((await work.run("skills", "s", uri, "SKILL.md", "--json")).stdout);
  expect(json).toMatchObject({ uri, verified: true, text: MANIFEST, frontmatter: skill.frontmatter });
});

test("one that isn't is not printed, and one that isn't there is named", async () => {
  const work = await project(MANIFEST.replace("north", "south"));
  const other = await work.run("skills", "s", "maps");
  expect(other).toMatchObject({ code: 1, stdout: "" });
  expect(other.stderr).toContain('pimcp skills: server "s": a skill is not what was listed');
  const unknown = await work.run("skills", "s", "mapz");
  expect(unknown).toMatchObject({ code: 1, stdout: "" });
  expect(unknown.stderr).toContain('server "s" has no skill "mapz"; did you mean maps?');
});
