/** Stubs of the real servers that are installed for development type-check under the flags a consumer may use. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, test } from "vitest";
import { renderStub } from "../../compiler/stubs/stub-file.ts";
import { renderIndex, stubPaths } from "../../compiler/stubs/stub-index.ts";
import { createTypeSource } from "../../compiler/stubs/type-source.ts";
import type { CatalogServer } from "../../schemas/catalog.schema.ts";
import { foldIdentifiers } from "../../schemas/names.ts";
import { stubErrors } from "./stubs-checker.ts";

async function listTools(
  name: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CatalogServer> {
  const script = fileURLToPath(
    new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url),
  );
  const client = new Client({ name: "stubs-test", version: "0" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [script, ...args], env, stderr: "ignore" }),
  );
  try {
    const { tools } = await client.listTools();
    const methods = foldIdentifiers(tools.map((tool) => tool.name));
    return {
      name,
      namespace: `mcp__${name}`,
      client: name,
      capabilities: {},
      resources: false,
      prompts: false,
      tools: tools.map((tool, index) => {
        const { title, description, inputSchema, outputSchema } = tool;
        const optional = {
          ...(title && { title }),
          ...(description && { description }),
          ...(outputSchema && { outputSchema }),
        };
        return {
          name: `mcp__${name}__${tool.name}`,
          tool: tool.name,
          method: methods[index]!,
          inputSchema,
          ...optional,
        };
      }),
    };
  } finally {
    await client.close();
  }
}

test("stubs of everything, filesystem and memory check", { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "pimcp-stubs-"));
  try {
    const servers = await Promise.all([
      listTools("everything", []),
      listTools("filesystem", [folder]),
      listTools("memory", [], { MEMORY_FILE_PATH: join(folder, "memory.json") }),
    ]);
    const types = createTypeSource();
    const paths = stubPaths(servers.map(({ name }) => name));
    const files: Record<string, string> = { "index.ts": renderIndex(servers) };
    for (const server of servers) {
      expect(server.tools.length).toBeGreaterThan(5);
      const { value, diagnostics } = await renderStub(server, types);
      expect(diagnostics).toEqual([]);
      files[paths.get(server.name)!] = value;
    }
    files["main.ts"] = `
      import { filesystem, memory } from "./index.js";
      export async function main(): Promise<string[]> {
        const { structured } = await filesystem.readTextFile({ path: "a", head: 3 });
        const graph = await memory.readGraph();
        return [structured.content, ...graph.structured.entities.map((entity) => entity.name)];
      }`;
    expect(stubErrors(files)).toEqual([]);
    const wrong = stubErrors({
      ...files,
      "main.ts": `import { filesystem } from "./index.js";\nvoid filesystem.readTextFile({ path: 1 });\n`,
    });
    expect(wrong).toEqual([expect.stringContaining("not assignable to type 'string'")]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
