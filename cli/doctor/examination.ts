/**
 * What `pimcp doctor` finds out about one server, as data: how it is reached, what was negotiated and why, what it
 * offers, how that compares with what was compiled and cached, how long each step took, and, where it fails, what helps.
 * Texts of the server's are as it sent them, without secrets; whoever shows them cleans them.
 */
import type { Diagnostic } from "../../schemas/diagnostic.ts";

export interface ExaminedStep {
  readonly name: string;
  readonly durationMs: number;
  readonly ok: boolean;
  readonly detail?: string;
}

export interface Problem {
  readonly code: string;
  readonly message: string;
  /** What may help, likeliest first. */
  readonly remedy: readonly string[];
}

/** How the tool list stands to what is remembered of it. */
export interface Freshness {
  /** Milliseconds the server's list counts as fresh; absent when the server says nothing. */
  readonly ttlMs?: number;
  readonly cacheScope: "public" | "private";
  /** The list that the cache holds. */
  readonly cached?: { readonly ageMs: number; readonly fresh: boolean };
  readonly compiled: {
    /** `other-entry`: compiled from another entry of this name. */
    readonly status: "same" | "drifted" | "other-entry" | "never";
    /** `1 changed (echo)`, or what else differs. */
    readonly changes?: string;
  };
}

export interface Examination {
  readonly name: string;
  readonly status: "ok" | "failed" | "disabled";
  readonly ok: boolean;
  readonly scope: "user" | "project";
  /** Where it is configured: `mcp.json:3:5`. */
  readonly place: string;
  /** The command line or the URL as written, without secrets and query. */
  readonly target?: string;
  /** What the entry says until something was negotiated: `http` covers both HTTP transports. */
  readonly transport?: "stdio" | "http" | "streamable-http" | "sse";
  readonly era?: "legacy" | "modern";
  readonly verdict?: "answered" | "silence" | "configured";
  /** The evidence for the era. */
  readonly why?: string;
  readonly protocolVersion?: string;
  readonly supportedVersions?: readonly string[];
  readonly serverInfo?: { readonly name: string; readonly version: string; readonly title?: string };
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly extensions?: readonly string[];
  /** How many it lists. */
  readonly tools?: number;
  readonly freshness?: Freshness;
  readonly steps: readonly ExaminedStep[];
  readonly durationMs: number;
  readonly problem?: Problem;
  /** The last lines the server's process wrote to stderr, and what it printed instead of messages; only of one that failed. */
  readonly output?: readonly string[];
  /** Warnings and remarks. */
  readonly diagnostics: readonly Diagnostic[];
}
