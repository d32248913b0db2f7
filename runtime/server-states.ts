/**
 * What is known of the connection to each server, for whoever shows it. Told by the live half of a runtime, and loads nothing
 * of it: before the first call every server is simply not connected.
 */
import type { Diagnostic } from "../schemas/diagnostic.ts";
import type { Connection } from "./connect/connection.ts";
import type { Drift } from "./drift.ts";

export type ServerState =
  /** The next call connects. `ended` says how its last process ended where that was not asked for. */
  | { readonly kind: "idle"; readonly ended?: string }
  | { readonly kind: "connecting" }
  | { readonly kind: "connected"; readonly protocolVersion: string; readonly transport: string }
  | {
      readonly kind: "failed" | "needs-sign-in";
      readonly finding: Diagnostic;
      /** The end of what a stdio server wrote to stderr, cleaned. */
      readonly stderr: readonly string[];
    };

export interface ServerStatus {
  readonly state: ServerState;
  /** How the server differs from what was compiled; undefined where nobody has compared. */
  readonly drift?: Drift | undefined;
}

const IDLE: ServerState = { kind: "idle" };

export class ServerStates {
  readonly #states = new Map<string, ServerState>();
  readonly #listeners = new Set<(server: string) => void>();
  /** Who goes on with a server's connection, and with what becomes known of it. */
  readonly #heirs = new Map<string, ServerStates>();

  of(server: string): ServerState {
    return this.#heirs.get(server)?.of(server) ?? this.#states.get(server) ?? IDLE;
  }

  /** The result stops it. */
  onChange(listener: (server: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  connecting(server: string): void {
    this.#set(server, { kind: "connecting" });
  }

  connected({ server, verdict }: Pick<Connection, "server" | "verdict">): void {
    this.#set(server, { kind: "connected", protocolVersion: verdict.protocolVersion, transport: verdict.transport });
  }

  failed(server: string, finding: Diagnostic, stderr: readonly string[] = []): void {
    const kind = finding.code === "sign-in-needed" ? "needs-sign-in" : "failed";
    this.#set(server, { kind, finding, stderr });
  }

  /** `how` follows "the server process ". */
  ended(server: string, how?: string): void {
    // A connection that failed and is cleared away leaves the reason standing.
    if (this.of(server).kind === "connected")
      this.#set(server, how === undefined ? IDLE : { kind: "idle", ended: how });
  }

  /** Nobody waits for the connection any more. */
  forgotten(server: string): void {
    this.#set(server, IDLE);
  }

  /** Goes on with what `before` knows of these servers, and hears what it comes to know of them. */
  carryOn(before: ServerStates, servers: readonly string[]): void {
    for (const server of servers) {
      this.#set(server, before.of(server));
      before.#heirs.set(server, this);
    }
  }

  #set(server: string, state: ServerState): void {
    const heir = this.#heirs.get(server);
    if (heir !== undefined) heir.#set(server, state);
    else this.#states.set(server, state);
    for (const listener of this.#listeners) listener(server);
  }
}
