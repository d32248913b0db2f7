import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CLIENT_INFO } from "../../runtime/connect/connect-task.ts";

test("the version we introduce ourselves with is the package's", () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(CLIENT_INFO.version, `write "${version}" into CLIENT_INFO in runtime/connect/connect-task.ts`).toBe(version);
});
