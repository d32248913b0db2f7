/**
 * `pimcp doctor`: connects to every server there is, or to one, and explains what happens: how it is reached, which era
 * it speaks and why, what it offers, how that compares with what was compiled, where the time goes, and what helps where
 * it fails. Servers are asked anew, several at once. Writes nothing.
 */
import { openSnapshotCache } from "../compiler/cache/snapshot-cache.ts";
import { type Previous, readPrevious } from "../compiler/previous.ts";
import type { Auth } from "../runtime/connect/auth/create-auth.ts";
import { lazyAuth } from "../runtime/connect/auth/lazy-auth.ts";
import { loadConfiguration } from "../runtime/connect/configuration.ts";
import { locateConfiguration } from "../runtime/connect/configuration-files.ts";
import { unknownServer } from "../schemas/artifacts/target.ts";
import type { Configuration, DroppedServer, Scope, ServerConfig } from "../schemas/config/server-config.ts";
import type { Diagnostic } from "../schemas/diagnostic.ts";
import { cacheFolder } from "../schemas/user-folders.ts";
import type { Invocation } from "./commands.ts";
import { configurationOptions } from "./compile-command.ts";
import type { Examination } from "./doctor/examination.ts";
import { disabled, type ExamineOptions, examine, unreadable } from "./doctor/examine.ts";
import { countLine, pageLines } from "./doctor/page.ts";
import { fail } from "./fail.ts";
import { EXIT, type Io, interruptedExit, WITH_SIGN_IN_MS } from "./io.ts";
import { diagnosticsText } from "./print.ts";
import { startProgress } from "./progress.ts";
import { NO_SECONDS, secondsFlag } from "./seconds.ts";

/** What `--json` prints. */
export interface DoctorJson {
  readonly ok: boolean;
  readonly servers: readonly Examination[];
  /** Of the configuration, beside what is said of a server. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Servers examined at the same time. Fewer than a compile asks: their times are shown, and should be their own. */
const CONCURRENCY = 6;

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { operands, flags } = invocation;
  const [only] = operands;
  const timeoutMs = secondsFlag(invocation);
  if (Number.isNaN(timeoutMs)) return fail("doctor", invocation, io, NO_SECONDS, EXIT.usage);
  const files = await locateConfiguration(configurationOptions(invocation, io));
  const { value: configuration, diagnostics } = await loadConfiguration(files);
  const patients = patientsOf(configuration);
  const chosen = only === undefined ? patients : patients.filter(({ name }) => name === only);
  if (only !== undefined && chosen.length === 0) {
    const names = patients.map(({ name }) => name);
    return fail("doctor", invocation, io, unknownServer(names, only).message, EXIT.reported);
  }
  const options = {
    ...(await surroundings(configuration, io)),
    timeoutMs: timeoutMs ?? (io.signIn && WITH_SIGN_IN_MS),
  };
  const found = await examineAll(chosen, diagnostics, options, io);
  await options.auth.settled();
  if (io.signal.aborted) return interruptedExit(io.signal);
  const names = new Set(chosen.map(({ name }) => name));
  const rest = diagnostics.filter(({ server }) => server === undefined || (only === undefined && !names.has(server)));
  const ok = found.every((one) => one.ok) && !rest.some(({ severity }) => severity === "error");
  if (flags["json"]) {
    const json: DoctorJson = { ok, servers: found, diagnostics: rest };
    io.out(`${JSON.stringify(json, undefined, 2)}\n`);
  } else print(found, rest, flags["verbose"] === true, io);
  return ok ? EXIT.ok : EXIT.reported;
}

type Patient = { readonly name: string } & (
  | { readonly kind: "server"; readonly config: ServerConfig }
  | { readonly kind: "dropped"; readonly dropped: DroppedServer }
);

/** Every entry, those included that an error keeps from being used. */
function patientsOf({ servers, dropped = [] }: Configuration): Patient[] {
  const usable = new Set(servers.map(({ name }) => name));
  return [
    ...servers.map((config): Patient => ({ name: config.name, kind: "server", config })),
    ...dropped
      .filter(({ name }) => !usable.has(name))
      .map((one): Patient => ({ name: one.name, kind: "dropped", dropped: one })),
  ];
}

type Surroundings = Omit<ExamineOptions, "previous" | "timeoutMs" | "auth"> & {
  readonly auth: Auth;
  readonly previous: Readonly<Record<Scope, Previous | undefined>>;
};

async function surroundings(configuration: Configuration, io: Io): Promise<Surroundings> {
  const { env, homedir, signal, trace } = io;
  const { agentDir } = configuration;
  const [project, user, cache] = await Promise.all([
    readPrevious(configuration.project.out),
    readPrevious(configuration.user.out),
    openSnapshotCache({ env, homedir, signal, agentDir, folder: cacheFolder(env, homedir), now: Date.now }),
  ]);
  return {
    env,
    homedir,
    signal,
    trace,
    auth: lazyAuth({ agentDir, interactive: io.signIn }),
    cache,
    previous: { project, user },
    now: Date.now,
  };
}

/** In the order of `patients`, which is that of their names. */
async function examineAll(
  patients: readonly Patient[],
  diagnostics: readonly Diagnostic[],
  options: Surroundings & Pick<ExamineOptions, "timeoutMs">,
  io: Io,
): Promise<Examination[]> {
  const found: Examination[] = [];
  const progress = startProgress(io);
  let next = 0;
  const examineOne = async (patient: Patient): Promise<Examination> => {
    if (patient.kind === "dropped") {
      return unreadable(
        patient.dropped,
        diagnostics.filter(({ server }) => server === patient.name),
      );
    }
    const { config } = patient;
    if (!config.enabled) return disabled(config);
    progress.onProgress({ kind: "asking", server: config.name });
    const examination = await examine(config, { ...options, previous: options.previous[config.scope] });
    progress.onProgress({ kind: "done", server: config.name });
    const said = diagnostics.filter(({ server }) => server === config.name);
    return { ...examination, diagnostics: [...said, ...examination.diagnostics] };
  };
  const worker = async () => {
    for (let index = next++; index < patients.length && !io.signal.aborted; index = next++) {
      found[index] = await examineOne(patients[index]!);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(CONCURRENCY, patients.length) }, worker));
  } finally {
    progress.end();
  }
  return found;
}

function print(found: readonly Examination[], rest: readonly Diagnostic[], verbose: boolean, io: Io): void {
  io.err(diagnosticsText(rest, io.errLook, verbose));
  for (const one of found) io.out(`${pageLines(one, io.outLook).join("\n")}\n\n`);
  io.out(found.length > 0 ? `${countLine(found, io.outLook)}\n` : "no servers are configured\n");
}
