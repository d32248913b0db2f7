/**
 * What can be typed after `/mcp`, read into data. Pure: names are looked up by whoever runs it. Wrong usage is a value, with
 * the nearest word that exists.
 */
import { EXPOSURES, type Exposure } from "../../../schemas/config/server-config.ts";
import { nearest } from "../../../schemas/nearest.ts";

export type McpRequest =
  | { readonly kind: "overview" }
  | { readonly kind: "help" }
  | { readonly kind: "status"; readonly server: string | undefined }
  | { readonly kind: ServerVerb; readonly server: string | undefined }
  | { readonly kind: "enable" | "disable"; readonly server: string | undefined; readonly inProject: boolean }
  | {
      readonly kind: "exposure";
      readonly server: string;
      /** Its own name; undefined for the whole server. */
      readonly tool: string | undefined;
      readonly exposure: Exposure | "inherit";
      readonly inProject: boolean;
    }
  | { readonly kind: "usage"; readonly message: string };

type ServerVerb = "login" | "logout" | "reconnect" | "compile";

export const IN_PROJECT = "--project";

/** Every subcommand, in the order of help. */
export const SUBCOMMANDS: Readonly<Record<string, string>> = {
  status: "state, tools and exposure of the servers, or of one",
  login: "sign in to a server",
  logout: "sign out of a server",
  reconnect: "end a server's connection and open another",
  compile: "ask a server again what it offers",
  enable: "turn a server on, for all projects or (--project) for this one",
  disable: "turn a server off, for all projects or (--project) for this one",
  exposure: "how the tools of a server, or one of them, reach the model",
  help: "what can be typed after /mcp",
};

const HELP = new Set(["help", "--help", "-h"]);

export const TOOL_EXPOSURES: readonly (Exposure | "inherit")[] = [...EXPOSURES, "inherit"];

export const USAGE = [
  "/mcp: the panel; without a terminal the same as /mcp status",
  "/mcp status [server]",
  "/mcp login|logout|reconnect|compile [server]",
  "/mcp enable|disable [server] [--project]",
  "/mcp exposure <server> [tool] <exposure> [--project]",
  `exposure: ${EXPOSURES.join(", ")}; for a tool also inherit`,
].join("\n");

export function readMcpArguments(text: string): McpRequest {
  const words = text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  const inProject = words.includes(IN_PROJECT);
  const [verb, ...rest] = words.filter((word) => word !== IN_PROJECT);
  if (verb === undefined)
    return inProject ? usage(`${IN_PROJECT} goes with enable, disable and exposure`) : { kind: "overview" };
  if (HELP.has(verb) || rest.includes("--help")) return { kind: "help" };
  if (!Object.hasOwn(SUBCOMMANDS, verb)) {
    const close = nearest(verb, Object.keys(SUBCOMMANDS));
    return usage(`there is no /mcp ${verb}${close === undefined ? "" : `; did you mean /mcp ${close}?`}`);
  }
  const option = rest.find((word) => word.startsWith("--"));
  if (option !== undefined) return usage(`${option} is no option of /mcp ${verb}; the only one is ${IN_PROJECT}`);
  if (verb === "exposure") return readExposureChange(rest, inProject);
  const [server, ...more] = rest;
  if (more.length > 0) return usage(`/mcp ${verb} takes one server`);
  if (verb === "enable" || verb === "disable") return { kind: verb, server, inProject };
  if (inProject) return usage(`${IN_PROJECT} goes with enable, disable and exposure`);
  return { kind: verb as ServerVerb | "status", server };
}

function readExposureChange(words: readonly string[], inProject: boolean): McpRequest {
  const [server, ...rest] = words;
  const typed = rest.at(-1);
  if (server === undefined || typed === undefined)
    return usage("/mcp exposure takes a server, perhaps a tool, and an exposure");
  const tool = rest.length > 1 ? rest.slice(0, -1).join(" ") : undefined;
  const exposure = TOOL_EXPOSURES.find((one) => one === typed);
  if (exposure === undefined) {
    const close = nearest(typed, TOOL_EXPOSURES);
    const remedy = close === undefined ? `it is one of ${EXPOSURES.join(", ")}` : `did you mean ${close}?`;
    return usage(`"${typed}" is no exposure; ${remedy}`);
  }
  if (exposure === "inherit" && tool === undefined) return usage("only a tool can inherit its exposure");
  return { kind: "exposure", server, tool, exposure, inProject };
}

function usage(message: string): McpRequest {
  return { kind: "usage", message };
}
