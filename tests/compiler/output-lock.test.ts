/** One compile at a time writes an output folder. */
import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { outputLocks } from "../../compiler/output-lock.ts";
import { Stub } from "../cli/pimcp.ts";
import { RuntimeProject } from "../runtime/runtime-project.ts";
import { scratchFolder } from "../scratch.ts";

const never = new AbortController().signal;
const next = async () => "next";

function signalled(): { readonly came: Promise<void>; readonly come: () => void } {
  let come = () => {};
  const came = new Promise<void>((resolve) => {
    come = resolve;
  });
  return { came, come };
}

test("works take turns in a folder, by whatever path it is reached, and none waits for another folder's", async () => {
  const root = scratchFolder();
  const [folder, link] = [join(root, "out"), join(root, "link")];
  mkdirSync(folder);
  symlinkSync(folder, link);
  const locked = <T>(path: string, work: () => Promise<T>) => outputLocks(join(root, "cache"), never)(path, work);
  const elsewhere = signalled();
  let [inside, most] = [0, 0];
  const work = (name: string) => async () => {
    most = Math.max(most, ++inside);
    await elsewhere.came;
    await new Promise((resolve) => setTimeout(resolve, 50));
    inside--;
    return name;
  };
  const taken = [locked(folder, work("a")), locked(link, work("b")), locked(folder, work("c"))];
  await locked(root, async () => elsewhere.come());
  expect(await Promise.all(taken)).toEqual(["a", "b", "c"]);
  expect(most).toBe(1);
  expect(readdirSync(join(root, "cache", "locks"))).toEqual([]);
});

test("a failure releases the lock and is the caller's", async () => {
  const root = scratchFolder();
  const locked = outputLocks(root, never);
  const failing = () => Promise.reject(new Error("no"));
  await expect(locked("out", failing)).rejects.toThrow("no");
  expect(await locked("out", next)).toBe("next");
});

test("a lock that was left behind is taken over", async () => {
  const root = scratchFolder();
  let lock = "";
  await outputLocks(root, never)("out", async () => {
    lock = join(root, "locks", readdirSync(join(root, "locks"))[0]!);
  });
  mkdirSync(lock);
  utimesSync(lock, new Date(0), new Date(0));
  expect(await outputLocks(root, never)("out", next)).toBe("next");
  expect(readdirSync(join(root, "locks"))).toEqual([]);
});

test("where no lock can be had, or nobody wants to wait, the work is done without", async () => {
  const root = scratchFolder();
  writeFileSync(join(root, "file"), "");
  expect(await outputLocks(join(root, "file"), never)("out", next)).toBe("next");
  const locked = outputLocks(root, AbortSignal.abort());
  const [one, other] = [signalled(), signalled()];
  const meet = (mine: typeof one, theirs: typeof one) => async () => {
    mine.come();
    await theirs.came;
  };
  await Promise.all([locked("out", meet(one, other)), locked("out", meet(other, one))]);
});

test("a compile that is interrupted while it waits for another one writes nothing", async () => {
  const project = new RuntimeProject();
  project.servers({ s: new Stub().entry });
  const interrupt = new AbortController();
  await project.compileInProcess(
    {},
    {
      signal: interrupt.signal,
      exclusively: (_, work) => {
        interrupt.abort();
        return work();
      },
    },
  );
  expect(existsSync(join(project.project, "generated"))).toBe(false);
});
