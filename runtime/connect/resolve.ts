/**
 * From a server's entry as written to what is needed to reach it: variables, `~/` and `!command` values
 * replaced, relative folders made absolute. This is the one place that does so, at the moment of a
 * connect; the outcome lives in memory only. No message made here holds a value, only the names of
 * variables and fields.
 */
import { stat } from "node:fs/promises";
import { isAbsolute, resolve as resolvePath } from "node:path";
import type { HttpSettings, ServerConfig, StdioSettings } from "../../schemas/config/server-config.ts";
import { type Diagnostic, type DiagnosticCode, diagnostic } from "../../schemas/diagnostic.ts";
import { type Environment, expandHome, expandVariables, isCommandValue, variablesOf } from "../../schemas/expand.ts";
import { runCommandValue } from "./command-value.ts";

export interface ResolvedStdio {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child: ours, with the entry's `env` laid over it. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute, existing folder. */
  readonly cwd: string;
  readonly secrets: readonly string[];
}

export interface ResolvedHttp {
  readonly kind: "http";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: HttpSettings["oauth"];
  readonly secrets: readonly string[];
}

/** `secrets`: values that `redact` must take out of whatever this server says. */
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

/** Fails with `unset-variable`, `command-failed`, `missing-cwd` or `invalid-value`. */
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
  const env = fields.record("env", transport.env, (name) => SECRET_NAME.test(name));
  const cwd = transport.cwd === undefined ? { value: "." } : fields.path("cwd", transport.cwd);
  return async () => {
    const folder = resolvePath(fields.config.baseDir, cwd.value);
    if (!(await isFolder(folder))) return fields.fail("missing-cwd", missingFolder(transport, cwd.value));
    const inherited = Object.entries(fields.options.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return {
      ok: true,
      resolved: {
        kind: "stdio",
        command: command.value,
        args: args.map((arg) => arg.value),
        env: { ...Object.fromEntries(inherited), ...env() },
        cwd: folder,
        secrets: fields.secrets(),
      },
    };
  };
}

function http(transport: HttpSettings, fields: FieldResolver): () => Promise<Resolution> {
  const url = fields.text("url", transport.url, true);
  const headers = fields.record("headers", transport.headers, () => true);
  const { clientSecret, ...plain } = transport.oauth ?? {};
  const strings = Object.entries(plain).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const oauth = fields.record("oauth", Object.fromEntries(strings), () => false, false);
  const secret = clientSecret === undefined ? undefined : fields.secret("oauth.clientSecret", clientSecret);
  return async () => {
    const parsed = URL.canParse(url.value) ? new URL(url.value) : undefined;
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
      return fields.fail("invalid-value", "url is not an http or https URL once its variables are replaced");
    }
    const resolvedOauth = { ...plain, ...oauth(), ...(secret && { clientSecret: secret.value }) };
    return {
      ok: true,
      resolved: {
        kind: "http",
        url: parsed,
        headers: headers(),
        ...(transport.oauth && { oauth: resolvedOauth }),
        secrets: fields.secrets(),
      },
    };
  };
}

/** Header and environment names whose literal values are taken for secrets. */
const SECRET_NAME = /token|secret|passw|api_?key|auth|credential|private|bearer|cookie|session|connection_?string/i;
/** Variables that say where and as whom something runs: taking them out of messages would only hide the cause. */
const PLAIN_VARIABLE =
  /^(?:HOME|USER|USERNAME|USERPROFILE|LOGNAME|PWD|PATH|SHELL|LANG|TERM|TMPDIR|TEMP|TMP|HOSTNAME|XDG_.*|LC_.*)$/;

/** A field's value, to be read only after `settle` found no failure. */
interface Slot {
  value: string;
}

/** Resolves fields and collects what is missing in all of them before anything is reported. */
class FieldResolver {
  readonly config: ServerConfig;
  readonly options: ResolveOptions;
  readonly #unset: string[] = [];
  readonly #failedCommands: string[] = [];
  readonly #running: Promise<void>[] = [];
  readonly #secrets = new Set<string>();

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
    if (secret) for (const name of variables) this.#keepSecret(this.options.env[name]);
    return { value: expansion.value };
  }

  /** A field in which a leading `~/` names the home folder. */
  path(field: string, raw: string, secret = false): Slot {
    const slot = this.text(field, raw, secret);
    // Looked for before the variables are in: a variable's value is taken as it is.
    if (raw.startsWith("~")) slot.value = expandHome(slot.value, this.options.homedir);
    return slot;
  }

  /** A field that may be a `!command`, and whose value is a secret either way. */
  secret(field: string, raw: string, literalToo = true): Slot {
    if (isCommandValue(raw)) return this.#command(field, raw.slice(1));
    const slot = this.text(field, raw, true);
    if (literalToo) this.#keepSecret(slot.value);
    return slot;
  }

  record(
    field: string,
    raw: Readonly<Record<string, string>>,
    isSecret: (name: string) => boolean,
    commands = true,
  ): () => Record<string, string> {
    const slots = Object.entries(raw).map(([name, value]): [string, Slot] => {
      const place = `${field}.${name}`;
      return [name, commands ? this.secret(place, value, isSecret(name)) : this.text(place, value, false)];
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

  secrets(): string[] {
    return [...this.#secrets];
  }

  fail(code: DiagnosticCode, message: string): Resolution {
    return { ok: false, diagnostic: this.#diagnostic(code, message) };
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
          this.#keepSecret(outcome.value);
        }
      }),
    );
    return slot;
  }

  #keepSecret(value: string | undefined): void {
    if (!value) return;
    this.#secrets.add(value);
    // `Bearer …`: servers echo the token alone.
    const token = /^[A-Za-z]+ +(\S.*)$/.exec(value)?.[1];
    if (token !== undefined) this.#secrets.add(token);
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
