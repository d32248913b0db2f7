/**
 * The command line: parses arguments by the table in commands.ts, prints help, and hands over. Errors of usage
 * exit with 2 and say what would have been right. Imports nothing heavy: a command's module is loaded when it runs.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { homeFolder } from "../runtime/connect/configuration-files.ts";
import { COMMANDS, COMMON_OPTIONS, type CommandSpec, type Invocation } from "./commands.ts";
import { EXIT, type Io } from "./io.ts";

/** Runs one command line (without `node` and the script) and resolves to its exit code. Never throws for bad input. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    const { commandHelp, overview } = await import("./help.ts");
    const about = rest[0] === undefined ? undefined : COMMANDS.find((command) => command.name === rest[0]);
    io.out(about ? commandHelp(about, io.outLook.width) : overview(io.outLook.width));
    return EXIT.ok;
  }
  if (name === "--version" || name === "-v") {
    const { version } = await import("./version.ts");
    io.out(`${version}\n`);
    return EXIT.ok;
  }
  const command = COMMANDS.find((one) => one.name === name);
  if (!command) return usage(io, rest, await unknownCommand(name));
  const parsed = parse(command, rest);
  if (!parsed.ok) {
    const remedy = await closeOption(command, rest);
    return usage(io, rest, `${parsed.message}${remedy}\nRun \`pimcp ${name} --help\` for what it takes.`);
  }
  if (parsed.invocation.flags["help"]) {
    const { commandHelp } = await import("./help.ts");
    io.out(commandHelp(command, io.outLook.width));
    return EXIT.ok;
  }
  const cwd = parsed.invocation.flags["cwd"];
  const { run } = await command.load();
  const surroundings = await withLogin(
    parsed.invocation,
    typeof cwd === "string" ? { ...io, cwd: resolve(io.cwd, cwd) } : io,
  );
  if (typeof parsed.invocation.flags["trace"] !== "string") return run(parsed.invocation, surroundings);
  const { withTrace } = await import("./trace-option.ts");
  return withTrace(name, parsed.invocation, surroundings, (traced) => run(parsed.invocation, traced));
}

/** With `--login`, a person is asked to sign in where a server wants it; their paste is taken from a terminal alone. */
async function withLogin({ flags }: Invocation, io: Io): Promise<Io> {
  if (flags["login"] !== true) return io;
  const { browserSignIn } = await import("./browser-sign-in.ts");
  return { ...io, signIn: browserSignIn(io, { readsInput: process.stdin.isTTY === true }) };
}

type Parsed = { readonly ok: true; readonly invocation: Invocation } | { readonly ok: false; readonly message: string };

function parse(command: CommandSpec, argv: readonly string[]): Parsed {
  const options = Object.fromEntries(
    Object.entries({ ...COMMON_OPTIONS, ...command.options }).map(([name, spec]) => [
      name,
      { type: spec.type, multiple: spec.multiple ?? false, ...(name === "help" && { short: "h" }) },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
    const [least, most] = command.arity;
    if (!values["help"] && positionals.length < least) return { ok: false, message: `missing ${command.operands}` };
    if (positionals.length > most) return { ok: false, message: `unexpected argument "${positionals[most]}"` };
    const empty = Object.keys(values).find((name) => [values[name]].flat().includes(""));
    if (empty !== undefined) return { ok: false, message: `--${empty} needs a value, and got an empty one` };
    return { ok: true, invocation: { operands: positionals, flags: values } };
  } catch (error) {
    // parseArgs words its own errors well; only its hint about `--` is longer than it helps.
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, message: message.split(". To specify")[0]! };
  }
}

async function unknownCommand(name: string): Promise<string> {
  const { nearest } = await import("../schemas/nearest.ts");
  const close = nearest(
    name,
    COMMANDS.map((command) => command.name),
  );
  return `unknown command "${name}"${close ? `; did you mean \`${close}\`?` : ""}\nRun \`pimcp --help\` for the commands there are.`;
}

/** `; did you mean \`--json\`?` for the first option that the command does not have. */
async function closeOption(command: CommandSpec, argv: readonly string[]): Promise<string> {
  const { nearest } = await import("../schemas/nearest.ts");
  const known = Object.keys({ ...COMMON_OPTIONS, ...command.options });
  const typed = argv.map((arg) => /^--([^=]+)/.exec(arg)?.[1]).find((one) => one !== undefined && !known.includes(one));
  const close = typed === undefined ? undefined : nearest(typed, known);
  return close === undefined ? "" : `; did you mean \`--${close}\`?`;
}

/** A program that asked for JSON gets JSON, whatever else was wrong with its words. */
function usage(io: Io, argv: readonly string[], message: string): number {
  if (argv.includes("--json")) io.out(`${JSON.stringify({ error: { message } })}\n`);
  io.err(`pimcp: ${message}\n`);
  return EXIT.usage;
}

/** The Io of this process. */
export function processIo(signal: AbortSignal): Io {
  const look = (stream: NodeJS.WriteStream) => ({
    colour: Boolean(stream.isTTY) && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb",
    width: stream.columns ?? (Number(process.env["COLUMNS"]) || 80),
    terminal: Boolean(stream.isTTY),
  });
  return {
    env: process.env,
    homedir: homeFolder(process.env),
    cwd: process.cwd(),
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    outLook: look(process.stdout),
    errLook: look(process.stderr),
    interactive: Boolean(process.stderr.isTTY),
    ...(process.stdin.isTTY && process.stderr.isTTY && { terminal: { input: process.stdin, output: process.stderr } }),
    signal,
  };
}
