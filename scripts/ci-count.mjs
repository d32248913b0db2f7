// Closes a CI run with the plain line `N passed, N failed`, counted from vitest's own summary.
import { readFileSync } from "node:fs";

// Colour codes stand between the words on some terminals.
const text = readFileSync(process.argv[2], "utf8").replace(/\u001b\[[0-9;]*m/g, "");
const line = text.split("\n").findLast((one) => /^\s*Tests\s/.test(one)) ?? "";
const count = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
console.log(`${count("passed")} passed, ${count("failed")} failed`);
