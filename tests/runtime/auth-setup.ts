/** A person who agrees to everything, an agent folder of the test's own, and connections that end with the test. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type AuthOptions, createAuth } from "../../runtime/connect/auth/create-auth.ts";
import type { Interactive } from "../../runtime/connect/auth/interactive.ts";
import type { Credentials } from "../../runtime/connect/auth/store-file.ts";
import type { Connection } from "../../runtime/connect/connection.ts";
import { type OpenOptions, type OpenOutcome, openConnection } from "../../runtime/connect/open.ts";
import type { OAuthSettings, ServerConfig } from "../../schemas/config/server-config.ts";
import { scratchFolder } from "../scratch.ts";
import type { AuthorizationServer } from "../servers/authorization.ts";
import { serverConfig, surroundings } from "../servers/run.ts";

export interface Person extends Interactive {
  /** Authorization URLs so far. */
  readonly visited: URL[];
}

/** Agrees: the browser follows the redirect, and the redirect URL is the answer. */
export function agreeing(server: Pick<AuthorizationServer, "approve">, port = 7777): Person {
  const visited: URL[] = [];
  return {
    visited,
    open: async ({ url, port: fixed, preferredPort }) => {
      const redirect = new URL(url);
      redirect.port ||= String(fixed ?? preferredPort ?? port);
      return {
        redirectUrl: redirect.href,
        authorize: async (page) => {
          visited.push(page);
          return server.approve(page);
        },
        close: async () => {},
      };
    },
  };
}

export const SERVER = "guarded";

export function guarded(url: string, oauth?: OAuthSettings, name = SERVER): ServerConfig {
  return serverConfig({ kind: "http", url, headers: {}, ...(oauth && { oauth }) }, { name });
}

export class AgentFolder {
  readonly path: string;
  constructor(path = scratchFolder()) {
    this.path = path;
  }
  get file(): string {
    return join(this.path, "mcp-auth.json");
  }
  content(): string {
    return readFileSync(this.file, "utf8");
  }
  entries(): Record<string, Credentials> {
    return JSON.parse(this.content());
  }
  entry(url: string, name = SERVER): Credentials {
    return this.entries()[`mcp__${name}|${url}`]!;
  }
  write(entries: unknown): void {
    writeFileSync(this.file, typeof entries === "string" ? entries : JSON.stringify(entries), { mode: 0o600 });
  }
  /** Puts other values into the server's entry. */
  edit(url: string, change: (entry: Credentials) => object): void {
    this.write({ ...this.entries(), [`mcp__${SERVER}|${url}`]: change(this.entry(url)) });
  }
}

export function openGuarded(
  config: ServerConfig,
  auth: AuthOptions,
  options: Partial<OpenOptions> = {},
): Promise<OpenOutcome> {
  return openConnection(config, { ...surroundings, auth: createAuth(auth), ...options });
}

/** Throws where it can't be opened. */
export async function connected(
  config: ServerConfig,
  auth: AuthOptions,
  options: Partial<OpenOptions> = {},
): Promise<Connection> {
  const outcome = await openGuarded(config, auth, options);
  if (!outcome.ok) throw new Error([outcome.diagnostic.message, ...outcome.diagnostic.notes].join("; "));
  const { connection } = outcome;
  onTestFinished(() => connection.close());
  return connection;
}

/** Calls `add` and gives the sum's text; throws with what was said when it fails. */
export async function add(connection: Connection): Promise<string> {
  const outcome = await connection.request("tools/call", { name: "add", arguments: { a: 2, b: 3 } });
  if (!outcome.ok) throw new Error(`${outcome.failure.kind}: ${outcome.failure.message}`);
  return (outcome.result["content"] as { text: string }[])[0]!.text;
}

/** Signs in and leaves the sign-in in the folder. */
export async function signedIn(server: AuthorizationServer, folder: AgentFolder, oauth?: OAuthSettings): Promise<void> {
  const connection = await connected(guarded(server.url, oauth), {
    agentDir: folder.path,
    interactive: agreeing(server),
  });
  await connection.close();
}

/** The finding with which a sign-in fails, as one text. */
export async function refusal(server: AuthorizationServer, oauth?: OAuthSettings, interactive?: Interactive) {
  const folder = new AgentFolder();
  const person = agreeing(server);
  const auth = { agentDir: folder.path, interactive: interactive ?? person };
  const outcome = await openGuarded(guarded(server.url, oauth), auth);
  if (outcome.ok) {
    await outcome.connection.close();
    throw new Error("signed in");
  }
  const { code, message, notes } = outcome.diagnostic;
  return { code, said: [message, ...notes].join("; "), visited: person.visited, folder };
}
