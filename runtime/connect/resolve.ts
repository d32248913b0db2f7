/**
 * From a server's entry as written to what is needed to reach it: variables, `~/` and `!command` values
 * replaced, relative folders made absolute. This is the one place that does so, at the moment of a
 * connect; the outcome lives in memory only. No message made here holds a value, only the names of
 * variables and fields.
 */
import { stat } from "node:fs/promises";
import { isAbsolute, resolve as resolvePath } from "node:path";
import { isPlain, isSecretName, secretsIn, secretsOfArgs } from "../../schemas/config/secrets.ts";
import { isSecureAddress } from "../../schemas/config/secure-address.ts";
import {
  type HttpSettings,
  OAUTH_SECRETS,
  type ServerConfig,
  type StdioSettings,
} from "../../schemas/config/server-config.ts";
import { type Diagnostic, type DiagnosticCode, diagnostic } from "../../schemas/diagnostic.ts";
import { type Environment, expandHome, expandVariables, isCommandValue, variablesOf } from "../../schemas/expand.ts";
import { readCaFile } from "./ca-file.ts";
import { runCommandValue } from "./command-value.ts";
import { isTelling, KnownSecrets, opaqueSegments, PLAIN_VARIABLE } from "./known-secrets.ts";

export interface ResolvedStdio {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child: ours, with the entry's `env` laid over it. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute, existing folder. */
  readonly cwd: string;
  readonly secrets: readonly string[];
  readonly credentials: readonly string[];
}

export interface ResolvedHttp {
  readonly kind: "http";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: HttpSettings["oauth"];
  /** Certificates in PEM, from `caFile`. */
  readonly ca?: string;
  /** The provider of Pi whose login signs requests. */
  readonly authProvider?: string;
  readonly secrets: readonly string[];
  readonly credentials: readonly string[];
}

/** `secrets` and `credentials`: what `redact` must take out of this server's messages and out of its data, as {@link KnownSecrets}. */
export type ResolvedServer = ResolvedStdio | ResolvedHttp;

export interface ResolveOptions {
  readonly env: Environment;
  readonly homedir: string;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds a `!command` may take, default 10,000. */
  readonly commandTimeoutMs?: number | undefined;
}

export type Resolution =
  | { readonly ok: true; readonly resolved: ResolvedServer }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

const COMMAND_TIMEOUT_MS = 10_000;

/** Fails with `unset-variable`, `command-failed`, `missing-cwd`, `unusable-ca-file` or `invalid-value`. */
export async function resolveServer(config: ServerConfig, options: ResolveOptions): Promise<Resolution> {
  const fields = new FieldResolver(config, options);
  const { transport } = config;
  const build = transport.kind === "stdio" ? stdio(transport, fields) : http(transport, fields);
  const failed = await fields.settle();
  return failed === undefined ? build() : { ok: false, diagnostic: failed };
}

/** Starts the resolution of every field; the returned function assembles them once all have settled. */
function stdio(transport: StdioSettings, fields: FieldResolver): () => Promise<Resolution> {
  const command = fields.path("command", transport.command);
  const args = transport.args.map((arg, index) => fields.path(`args[${index}]`, arg, true));
  fields.known.keepAll(secretsOfArgs(args.map((arg) => arg.value)).flat());
  const env = fields.record("env", transport.env, isTelling);
  const cwd = transport.cwd === undefined ? { value: "." } : fields.path("cwd", transport.cwd);
  return async () => {
    const folder = resolvePath(fields.config.baseDir, cwd.value);
    if (!(await isFolder(folder))) {
      return fields.fail("missing-cwd", missingFolder(transport, cwd.value), ["make the folder, or correct cwd"]);
    }
    const inherited = Object.entries(fields.options.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    // The child has them all, so it can repeat them all.
    for (const [name, value] of inherited) fields.known.keepAll(secretsIn(name, value).filter((one) => !isPlain(one)));
    return {
      ok: true,
      resolved: {
        kind: "stdio",
        command: command.value,
        args: args.map((arg) => arg.value),
        env: { ...Object.fromEntries(inherited), ...env() },
        cwd: folder,
        ...fields.known.values(),
      },
    };
  };
}

function http(transport: HttpSettings, fields: FieldResolver): () => Promise<Resolution> {
  const url = fields.text("url", transport.url, true);
  fields.known.keepAll(secretsIn("", url.value));
  fields.known.keepAll(opaqueSegments(url.value));
  const headers = fields.record("headers", transport.headers, () => true);
  const written = Object.entries(transport.oauth ?? {});
  const isSecret = (name: string) => OAUTH_SECRETS.some((secret) => secret === name);
  const strings = written.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const plain = Object.fromEntries(strings.filter(([name]) => !isSecret(name)));
  const oauth = fields.record("oauth", plain, () => false, false);
  const secret = fields.record("oauth", Object.fromEntries(strings.filter(([name]) => isSecret(name))), () => true);
  const caFile = transport.caFile === undefined ? undefined : fields.path("caFile", transport.caFile);
  for (const name of PROXY_VARIABLES) fields.known.keepAll(secretsIn(name, fields.options.env[name] ?? ""));
  return async () => {
    const parsed = URL.canParse(url.value) ? new URL(url.value) : undefined;
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
      return fields.fail("invalid-value", "url is not an http or https URL once its variables are replaced");
    }
    if (transport.authProvider !== undefined && !isSecureAddress(parsed)) {
      return fields.fail("invalid-value", "auth needs an https url, or http on this machine");
    }
    const ca = caFile && (await readCaFile(resolvePath(fields.config.baseDir, caFile.value)));
    if (ca?.ok === false) {
      return fields.fail("unusable-ca-file", `the file in caFile, "${transport.caFile}", ${ca.reason}`);
    }
    const resolvedOauth = { ...transport.oauth, ...oauth(), ...secret() };
    return {
      ok: true,
      resolved: {
        kind: "http",
        url: parsed,
        headers: headers(),
        ...(transport.oauth && { oauth: resolvedOauth }),
        ...(ca && { ca: ca.pem }),
        ...(transport.authProvider !== undefined && { authProvider: transport.authProvider }),
        ...fields.known.values(),
      },
    };
  };
}

const PROXY_VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];

/** A field's value, to be read only after `settle` found no failure. */
interface Slot {
  value: string;
}

type Telling = (name: string, value: string) => boolean;

/** Resolves fields and collects what is missing in all of them before anything is reported. */
class FieldResolver {
  readonly config: ServerConfig;
  readonly options: ResolveOptions;
  readonly known = new KnownSecrets();
  readonly #unset: string[] = [];
  readonly #failedCommands: string[] = [];
  readonly #running: Promise<void>[] = [];

  constructor(config: ServerConfig, options: ResolveOptions) {
    this.config = config;
    this.options = options;
  }

  text(field: string, raw: string, secret: boolean): Slot {
    const expansion = expandVariables(raw, this.options.env);
    if (!expansion.ok) {
      for (const name of expansion.missing) this.#unset.push(`${name} (in ${field})`);
      return { value: "" };
    }
    const variables = variablesOf(raw).filter((name) => !PLAIN_VARIABLE.test(name));
    if (secret) for (const name of variables) this.known.keep(this.options.env[name], isSecretName(name));
    return { value: expansion.value };
  }

  /** A field in which a leading `~/` names the home folder. */
  path(field: string, raw: string, secret = false): Slot {
    const slot = this.text(field, raw, secret);
    // Looked for before the variables are in: a variable's value is taken as it is.
    if (raw.startsWith("~")) slot.value = expandHome(slot.value, this.options.homedir);
    return slot;
  }

  /** A member that may be a `!command`. `isTelling` says whether its value is kept out of messages whatever the name. */
  secret(field: string, name: string, raw: string, isTelling: Telling): Slot {
    const place = `${field}.${name}`;
    if (isCommandValue(raw)) return this.#command(place, raw.slice(1));
    const slot = this.text(place, raw, true);
    if (isTelling(name, slot.value)) this.known.keep(slot.value, isSecretName(name));
    this.known.keepAll(secretsIn(name, slot.value));
    return slot;
  }

  record(
    field: string,
    raw: Readonly<Record<string, string>>,
    isTelling: Telling,
    commands = true,
  ): () => Record<string, string> {
    const slots = Object.entries(raw).map(([name, value]): [string, Slot] => {
      const slot = commands ? this.secret(field, name, value, isTelling) : this.text(`${field}.${name}`, value, false);
      return [name, slot];
    });
    // fromEntries defines members, so a key named `__proto__` stays an ordinary one.
    return () => Object.fromEntries(slots.map(([name, slot]) => [name, slot.value]));
  }

  /** Waits for the commands; the first kind of failure found, with all of that kind named. */
  async settle(): Promise<Diagnostic | undefined> {
    if (this.#unset.length > 0) {
      const [verb, pronoun] = this.#unset.length === 1 ? ["variable is", "it"] : ["variables are", "them"];
      return this.#diagnostic("unset-variable", `${verb} not set: ${this.#unset.join(", ")}`, [
        `set ${pronoun}, or give a default: \${NAME:-default}`,
      ]);
    }
    await Promise.all(this.#running);
    if (this.#failedCommands.length === 0) return undefined;
    return this.#diagnostic("command-failed", this.#failedCommands.sort().join("; "));
  }

  fail(code: DiagnosticCode, message: string, notes: readonly string[] = []): Resolution {
    return { ok: false, diagnostic: this.#diagnostic(code, message, notes) };
  }

  #command(field: string, command: string): Slot {
    const slot = { value: "" };
    // A missing variable fails the server anyway, and then nothing should be run for it.
    this.#running.push(
      Promise.resolve().then(async () => {
        if (this.#unset.length > 0) return;
        const outcome = await runCommandValue(command, {
          env: this.options.env,
          cwd: this.config.baseDir,
          timeoutMs: this.options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS,
          signal: this.options.signal,
        });
        if (!outcome.ok) this.#failedCommands.push(`the command in ${field} ${outcome.reason}`);
        else {
          slot.value = outcome.value;
          this.known.keep(outcome.value, true);
        }
      }),
    );
    return slot;
  }

  #diagnostic(code: DiagnosticCode, message: string, notes: readonly string[] = []): Diagnostic {
    const { name, location } = this.config;
    return diagnostic(code, `server "${name}": ${message}`, { server: name, ...location, notes });
  }
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR" || error.code === "EACCES") return undefined;
    throw error;
  });
  return found?.isDirectory() === true;
}

/** Names the folder as it was written: the resolved path would put this machine's layout into messages. */
function missingFolder(transport: StdioSettings, value: string): string {
  if (transport.cwd === undefined) return "the folder to run in doesn't exist";
  const place = isAbsolute(value) ? "" : " (relative to the project folder)";
  return `the folder in cwd, "${transport.cwd}"${place}, doesn't exist`;
}
