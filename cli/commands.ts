/**
 * Every command there is: its words for `--help`, its options, and the module that runs it, which is imported only
 * when it is asked for. Adding a command is adding an entry here and a module beside it.
 */
import type { Io } from "./io.ts";

export interface OptionSpec {
  readonly type: "boolean" | "string";
  readonly multiple?: boolean;
  /** Placeholder of the value in help, for `string` options. */
  readonly value?: string;
  readonly help: string;
}

export interface CommandSpec {
  readonly name: string;
  /** Arguments after the name, as shown in help. */
  readonly operands: string;
  readonly summary: string;
  /** Least and most number of operands. */
  readonly arity: readonly [number, number];
  readonly options: Readonly<Record<string, OptionSpec>>;
  readonly details?: string;
  readonly load: () => Promise<{ run: (invocation: Invocation, io: Io) => Promise<number> }>;
}

/** A parsed command line. */
export interface Invocation {
  readonly operands: readonly string[];
  readonly flags: Readonly<Record<string, boolean | string | readonly (string | boolean)[] | undefined>>;
}

export const COMMON_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  config: { type: "string", value: "FILE", help: "read this configuration file alone" },
  cwd: { type: "string", value: "DIR", help: "run as if started in DIR" },
  json: { type: "boolean", help: "print one JSON object on stdout and nothing else" },
  verbose: { type: "boolean", help: "show remarks too, not only errors and warnings" },
  help: { type: "boolean", help: "show this help" },
};

export const COMMANDS: readonly CommandSpec[] = [
  {
    name: "compile",
    operands: "",
    summary: "ask every server what it offers and write generated/",
    arity: [0, 0],
    options: {
      server: { type: "string", multiple: true, value: "NAME", help: "compile only this server (repeatable)" },
      out: { type: "string", value: "DIR", help: "output folder instead of generated/" },
      scope: { type: "string", value: "SCOPE", help: "project, user or all (default)" },
      check: { type: "boolean", help: "write nothing; exit 1 when anything would change" },
      refresh: { type: "boolean", help: "ask servers even where a cached list is fresh" },
      offline: { type: "boolean", help: "connect to nothing; use what is cached or compiled" },
    },
    details:
      "Exits with 0 when all is fine, 1 when a server failed or (--check) something would change, 2 for wrong usage.",
    load: () => import("./compile-command.ts"),
  },
  {
    name: "watch",
    operands: "",
    summary: "compile on every change, of mcp.json or of a server's tools",
    arity: [0, 0],
    options: {
      out: { type: "string", value: "DIR", help: "output folder instead of generated/" },
      scope: { type: "string", value: "SCOPE", help: "project, user or all (default)" },
      json: { type: "boolean", help: "print one JSON object a build, each on a line of its own" },
    },
    load: () => import("./watch-command.ts"),
  },
  {
    name: "list",
    operands: "[SERVER]",
    summary: "servers and tools, their exposure and cost",
    arity: [0, 1],
    options: { all: { type: "boolean", help: "hidden tools too" } },
    load: () => import("./list.ts"),
  },
  {
    name: "describe",
    operands: "TOOL",
    summary: "one tool in full: declaration, schemas, exposure, limit",
    arity: [1, 1],
    options: {},
    details: "TOOL is mcp__server__tool, SERVER/TOOL, a tool's own name where it is unique, or a server.",
    load: () => import("./describe.ts"),
  },
  {
    name: "search",
    operands: "QUERY",
    summary: "find tools by what they do",
    arity: [1, 99],
    options: {
      limit: { type: "string", value: "N", help: "at most N results (default 8)" },
      namespace: { type: "string", value: "SERVER", help: "only tools of this server" },
    },
    load: () => import("./search.ts"),
  },
  {
    name: "call",
    operands: "TOOL [key=value…]",
    summary: "call one tool",
    arity: [1, 9999],
    options: {
      args: { type: "string", value: "JSON", help: "arguments as JSON, @FILE, or - for standard input" },
      timeout: { type: "string", value: "S", help: "seconds without an answer or progress (default 60)" },
      out: { type: "string", value: "DIR", help: "save images and other binary content here" },
    },
    details:
      "TOOL is mcp__server__tool, SERVER/TOOL, or SERVER TOOL. key=value takes its type from the tool's schema; key:=JSON is taken as JSON. --json prints the whole CallToolResult.\n\nExits with 1 for a tool's error, an unknown tool and a server that fails, 2 for wrong usage.",
    load: () => import("./call-command.ts"),
  },
  {
    name: "read",
    operands: "SERVER [URI]",
    summary: "a server's resources, or one of them",
    arity: [1, 2],
    options: {},
    load: () => import("./read-command.ts"),
  },
  {
    name: "prompt",
    operands: "SERVER [NAME key=value…]",
    summary: "a server's prompts, or one filled in",
    arity: [1, 9999],
    options: {},
    load: () => import("./prompt-command.ts"),
  },
  {
    name: "init",
    operands: "",
    summary: "write a starter mcp.json",
    arity: [0, 0],
    options: {},
    load: () => import("./init-command.ts"),
  },
];
