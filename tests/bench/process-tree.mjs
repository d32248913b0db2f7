// A process and everything it started, where the system tells (Linux).
import { existsSync, readdirSync, readFileSync } from "node:fs";

const PAGE = 4096;

/** How many processes `root` started, theirs included, and the resident bytes of all of them with `root`. */
export function processTree(root) {
  if (!existsSync("/proc/self/statm")) return { children: undefined, bytes: undefined };
  const childrenOf = new Map();
  for (const pid of readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    const parent = parentOf(pid);
    if (parent !== undefined) childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), pid]);
  }
  const all = [root];
  for (const pid of all) all.push(...(childrenOf.get(pid) ?? []));
  return { children: all.length - 1, bytes: all.reduce((sum, pid) => sum + residentBytes(pid), 0) };
}

function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined; // ended meanwhile
  }
}

function residentBytes(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE;
  } catch {
    return 0;
  }
}
