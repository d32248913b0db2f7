/** `pimcp/sandbox` as a program imports it, from the built package. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const PROGRAM = `
  import { createRuntime } from "pimcp";
  import { createSandbox, runtimeHost } from "pimcp/sandbox";
  const runtime = await createRuntime({ userOut: false });
  const sandbox = createSandbox(runtimeHost(runtime));
  const result = await sandbox.run("return ALL_TOOLS.some(({ name }) => name === 'mcp__everything__echo')");
  console.log(JSON.stringify(result));
  await sandbox.close();
  await runtime.close();
`;

test("runs a script over the tools of a runtime", () => {
  const cwd = join(import.meta.dirname, "../..");
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", PROGRAM], { cwd, encoding: "utf8" });
  expect(JSON.parse(output)).toMatchObject({ ok: true, value: true, calls: [] });
});
