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

/** Of every command that connects to servers; `cli/trace-option.ts` makes a sink of it. */
const TRACE_OPTION: Readonly<Record<"trace", OptionSpec>> = {
  trace: {
    type: "string",
    value: "FILE",
    help: "append a JSON line for each message (method, size, time; no content)",
  },
};

/** Of every command whose servers may ask something; `cli/asking/handlers.ts` answers. */
const ANSWERS_OPTION: Readonly<Record<"answers", OptionSpec>> = {
  answers: { type: "string", value: "FILE", help: "what to answer when a server asks, instead of a person" },
};

/** For the details of those commands. */
const ANSWERS_DETAILS = `A server may ask something meanwhile. On a terminal you are asked; elsewhere the question is cancelled, unless the FILE of --answers has an answer:
{ "elicitation": [
{ "message": "Who *", "action": "accept", "content": { "name": "Ada" } },
{ "url": "https://example.com/*", "action": "decline" }],
"sampling": [{ "text": "42" }],
"roots": [{ "uri": "file:///tmp" }] }
A question gets the first answer that fits by message, url, server and tool (* stands for anything). Each is used once unless it has "repeat": true. A url is for pages to visit, which are never opened for you. Servers may ask for completions (sampling) and folders (roots) only where the file has some.`;

const CALL_DETAILS =
  "TOOL is mcp__server__tool, SERVER/TOOL, or SERVER TOOL. key=value takes its type from the tool's schema; key:=JSON is taken as JSON. --json prints the whole CallToolResult.\n\nExits with 1 for a tool's error, an unknown tool and a server that fails, 2 for wrong usage.";

/** Of every command in which somebody may have to sign in; `main.ts` makes a sign-in of it. */
const LOGIN_OPTION: Readonly<Record<"login", OptionSpec>> = {
  login: { type: "boolean", help: "sign in with a browser where a server wants it" },
};

const RUN_DETAILS =
  "FILE is JavaScript or TypeScript, the body of an async function: `await` and `return` work at the top. It calls tools as " +
  "tools.mcp__server__tool({ … }) and shows text(), image(), console.log() and what it returns; files, network and timers " +
  'it has none. Its first line may be // @options: {"max_output_tokens": 2000, "timeout_ms": 60000}.\n\n' +
  "Exits with 1 for a script that failed or did not pass the check, 2 for wrong usage.";

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
      ...LOGIN_OPTION,
      ...TRACE_OPTION,
    },
    details:
      "--config - takes the configuration from stdin.\n\n" +
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
      ...TRACE_OPTION,
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
    arity: [1, 2],
    options: {},
    details: "TOOL is mcp__server__tool, SERVER/TOOL, SERVER TOOL, a tool's own name where it is unique, or a server.",
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
      ...ANSWERS_OPTION,
      ...LOGIN_OPTION,
      ...TRACE_OPTION,
    },
    details: `${CALL_DETAILS}\n\n${ANSWERS_DETAILS}`,
    load: () => import("./call-command.ts"),
  },
  {
    name: "run",
    operands: "FILE|-",
    summary: "run a script that calls tools",
    arity: [1, 1],
    options: {
      timeout: { type: "string", value: "MS", help: "milliseconds for the whole script" },
      "no-typecheck": { type: "boolean", help: "don't check the script against the tools' declarations first" },
      store: { type: "string", value: "FILE", help: "keep what store() is given in this JSON file" },
      ...ANSWERS_OPTION,
      ...LOGIN_OPTION,
      ...TRACE_OPTION,
    },
    details: `${RUN_DETAILS}\n\n${ANSWERS_DETAILS}`,
    load: () => import("./run-command.ts"),
  },
  {
    name: "read",
    operands: "SERVER [URI]",
    summary: "a server's resources, or one of them",
    arity: [1, 2],
    options: { ...ANSWERS_OPTION, ...LOGIN_OPTION, ...TRACE_OPTION },
    details: ANSWERS_DETAILS,
    load: () => import("./read-command.ts"),
  },
  {
    name: "prompt",
    operands: "SERVER [NAME key=value…]",
    summary: "a server's prompts, or one filled in",
    arity: [1, 9999],
    options: { ...ANSWERS_OPTION, ...LOGIN_OPTION, ...TRACE_OPTION },
    details: ANSWERS_DETAILS,
    load: () => import("./prompt-command.ts"),
  },
  {
    name: "skills",
    operands: "SERVER [SKILL [FILE]]",
    summary: "a server's skills, or one of them, verified",
    arity: [1, 3],
    options: { ...LOGIN_OPTION, ...TRACE_OPTION },
    details:
      "SKILL is a skill's name or the URI of its SKILL.md, FILE a path in it (default SKILL.md). A file whose size, digest or frontmatter is not what the server lists is an error.",
    load: () => import("./skills-command.ts"),
  },
  {
    name: "doctor",
    operands: "[SERVER]",
    summary: "connect to every server, or one, and explain what happens",
    arity: [0, 1],
    options: {
      timeout: {
        type: "string",
        value: "S",
        help: "seconds for each server at most (default: what its steps may take)",
      },
      ...LOGIN_OPTION,
      ...TRACE_OPTION,
    },
    details: "Asks each server anew, whatever is cached. Writes nothing. Exits with 1 when any server fails.",
    load: () => import("./doctor-command.ts"),
  },
  {
    name: "tasks",
    operands: "[list | show ID | resume ID | cancel ID]",
    summary: "calls that became tasks: what is left of them, and their results",
    arity: [0, 2],
    options: {
      all: { type: "boolean", help: "with list: those of the last day that have ended, too" },
      server: { type: "string", value: "NAME", help: "only tasks of this server" },
      timeout: { type: "string", value: "S", help: "seconds for each request to the server (default 60)" },
      out: { type: "string", value: "DIR", help: "with resume: save images and other binary content here" },
      ...ANSWERS_OPTION,
      ...LOGIN_OPTION,
      ...TRACE_OPTION,
    },
    details: `A server may make a task of a call. pimcp keeps its id until the result is there: when the call was interrupted or killed, \`resume\` waits for the result and prints it as \`pimcp call\` would have. ID is a task's id or the beginning of it. A task that its server may have forgotten by now (its ttl is over) is dropped from the list.\n\nExits with 1 for a task's error and an unknown task, 2 for wrong usage.\n\n${ANSWERS_DETAILS}`,
    load: () => import("./tasks-command.ts"),
  },
  {
    name: "login",
    operands: "SERVER",
    summary: "sign in to a server with a browser, for pimcp and Pi",
    arity: [1, 1],
    options: {
      scope: { type: "string", value: "SCOPES", help: "ask for these scopes too, separated by blanks" },
      store: {
        type: "string",
        value: "STORE",
        help: "file (shared with Pi) or keyring, the system's own; default where the last sign-in is, else file",
      },
      "no-browser": { type: "boolean", help: "open no browser; only show the address" },
      ...TRACE_OPTION,
    },
    details:
      "The browser is sent back to this machine. Where it runs on another one, paste the address that it ends up at.\n\nExits with 1 when nobody is signed in at the end.",
    load: () => import("./login-command.ts"),
  },
  {
    name: "logout",
    operands: "SERVER",
    summary: "forget the sign-in to a server, for pimcp and Pi",
    arity: [1, 1],
    options: {},
    load: () => import("./logout-command.ts"),
  },
  {
    name: "init",
    operands: "",
    summary: "write a starter mcp.json",
    arity: [0, 0],
    options: { config: { type: "string", value: "FILE", help: "write this file instead of mcp.json" } },
    load: () => import("./init-command.ts"),
  },
];
