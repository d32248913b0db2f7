/**
 * Secrets that can be found again: one for every place that one can be in, and the search for them in everything that runs of
 * the command line printed and wrote.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Finished, type Running, Workspace } from "../cli/pimcp.ts";
import { scratchFolder } from "../scratch.ts";

/** One that no other text holds and that URL-encoding changes. */
export const canary = (place: string) => `cAn4ry/${place}+Zq9x7W`;

/** By the place they are planted in. */
export const CANARIES = {
  envLiteral: canary("env-literal"),
  envVariable: canary("env-variable"),
  envDefault: canary("env-default"),
  envCommand: canary("env-command"),
  inherited: canary("inherited"),
  arg: canary("arg"),
  argVariable: canary("arg-variable"),
  header: canary("header"),
  headerCommand: canary("header-command"),
  bearer: canary("bearer"),
  basic: canary("basic"),
  query: canary("query"),
  userinfo: canary("userinfo"),
  clientSecret: canary("client-secret"),
  piLogin: canary("pi-login"),
  proxy: canary("proxy"),
} as const;

/** The spellings in which a canary would be found out. */
function spellings(secret: string): string[] {
  const encoded = encodeURIComponent(secret);
  return [
    secret,
    encoded,
    encodeURIComponent(encoded),
    JSON.stringify(secret).slice(1, -1),
    secret.replaceAll("/", "\\/"),
  ];
}

/** Which of the secrets stand in a text, by name. */
export function found(text: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    spellings(secret).some((one) => text.includes(one)) ? [name] : [],
  );
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

/** Runs in a workspace of their own, with all that they print. */
export class Mine {
  readonly space = new Workspace();
  /** What was printed by every run, each with its command line. */
  readonly printed: { readonly command: string; readonly text: string }[] = [];
  readonly #env: Record<string, string>;

  constructor(env: Record<string, string>) {
    this.#env = { TMPDIR: join(this.space.root, "tmp"), ...env };
    mkdirSync(this.#env["TMPDIR"]!);
  }

  start(...args: string[]): Running {
    const running = this.space.start(args, { env: this.#env });
    void running.finished.then(({ stdout, stderr }) => {
      this.printed.push({ command: args.join(" "), text: `${stdout}\n${stderr}` });
    });
    return running;
  }

  async run(...args: string[]): Promise<Finished> {
    const finished = await this.start(...args, "--trace", join(this.space.root, "trace.jsonl")).finished;
    return finished;
  }

  /** Without those files that the user or the credential store wrote. */
  leaks(secrets: Readonly<Record<string, string>>, written: readonly string[]): string[] {
    const files = filesBelow(this.space.root).filter((path) => !written.some((name) => path.endsWith(name)));
    return [
      ...files.flatMap((path) => found(path, secrets).map((name) => `${name} in the name ${path}`)),
      ...files.flatMap((path) => found(readFileSync(path, "utf8"), secrets).map((name) => `${name} in ${path}`)),
      ...this.printed.flatMap(({ command, text }) =>
        found(text, secrets).map((name) => `${name} printed by ${command}`),
      ),
    ];
  }
}

/** Files that the user wrote. */
export const USERS = ["project/mcp.json", "agent/mcp.json"];

/** A secret file outside of all that is searched, and a command that prints it. */
export function command(secret: string): string {
  const file = join(scratchFolder(), "secret");
  writeFileSync(file, secret);
  return `!cat ${file}`;
}
