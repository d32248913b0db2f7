import { spawn } from "node:child_process";
import { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { LineWriter } from "../../runtime/connect/line-writer.ts";

/** A pipe that notes each write and takes `slowMs` for it. */
function pipe(options: { slowMs?: number; highWaterMark?: number } = {}) {
  const writes: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    highWaterMark: options.highWaterMark ?? 1 << 16,
    write(chunk, _, done) {
      writes.push(String(chunk));
      setTimeout(done, options.slowMs ?? 0);
    },
  });
  return { stream, writes, writer: new LineWriter(stream) };
}

describe("lines to a pipe", () => {
  test("those of one turn, promises included, are one write in their order", async () => {
    const { writes, writer } = pipe();
    const first = writer.write("1\n");
    const later = Promise.resolve().then(() => writer.write("2\n"));
    await Promise.all([first, later, writer.write("3\n")]);
    await new Promise((resolve) => setImmediate(resolve));
    await writer.write("4\n");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(writes).toEqual(["1\n3\n2\n", "4\n"]);
  });

  test("a full pipe is waited for", async () => {
    const { stream, writer } = pipe({ slowMs: 50, highWaterMark: 4 });
    let taken = false;
    const writing = writer.write("123456\n").then(() => {
      taken = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toBe(false);
    await writing;
    expect(stream.writableLength).toBe(0);
  });

  test("flush hands over at once, so that an end right behind it loses nothing", async () => {
    const { stream, writes, writer } = pipe();
    const taken = writer.write("1\n");
    writer.flush();
    stream.end();
    await taken;
    expect(writes).toEqual(["1\n"]);
  });

  test("a pipe that broke rejects every line of the batch", async () => {
    const { stream, writes, writer } = pipe();
    const lines = [writer.write("1\n"), writer.write("2\n")];
    stream.destroy();
    expect((await Promise.allSettled(lines)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(writes).toEqual([]);
  });

  test("a process that is killed while its pipe is full rejects too", async () => {
    const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"], {
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.stdin.on("error", () => {});
    const line = new LineWriter(child.stdin).write(`${"x".repeat(1 << 20)}\n`);
    setTimeout(() => child.kill("SIGKILL"), 100);
    await expect(line).rejects.toMatchObject({ code: expect.stringMatching(/EPIPE|ECONNRESET|ECANCELED|DESTROYED/) });
  });
});
