/** What is typed after `/mcp`. */
import { expect, test } from "vitest";
import { type McpRequest, readMcpArguments } from "../../runtime/pi/command/mcp-arguments.ts";

const rows: [typed: string, request: Partial<McpRequest>][] = [
  ["", { kind: "overview" }],
  ["  ", { kind: "overview" }],
  ["status", { kind: "status", server: undefined }],
  ["help", { kind: "help" }],
  ["--help", { kind: "help" }],
  ["exposure docs --help", { kind: "help" }],
  ["status docs", { kind: "status", server: "docs" }],
  [" login  docs ", { kind: "login", server: "docs" }],
  ["logout", { kind: "logout", server: undefined }],
  ["enable docs", { kind: "enable", server: "docs", inProject: false }],
  ["disable docs --project", { kind: "disable", server: "docs", inProject: true }],
  ["--project disable docs", { kind: "disable", server: "docs", inProject: true }],
  ["exposure docs direct", { kind: "exposure", server: "docs", tool: undefined, exposure: "direct", inProject: false }],
  [
    "exposure docs read_file inherit --project",
    { kind: "exposure", server: "docs", tool: "read_file", exposure: "inherit", inProject: true },
  ],
  ["exposure docs two words hidden", { kind: "exposure", server: "docs", tool: "two words", exposure: "hidden" }],
  ["loginn docs", { kind: "usage", message: "there is no /mcp loginn; did you mean /mcp login?" }],
  ["constructor", { kind: "usage", message: "there is no /mcp constructor" }],
  ["login a b", { kind: "usage", message: "/mcp login takes one server" }],
  ["login a --project", { kind: "usage", message: "--project goes with enable, disable and exposure" }],
  ["--project", { kind: "usage", message: "--project goes with enable, disable and exposure" }],
  [
    "disable a --projct",
    { kind: "usage", message: "--projct is no option of /mcp disable; the only one is --project" },
  ],
  ["exposure", { kind: "usage", message: "/mcp exposure takes a server, perhaps a tool, and an exposure" }],
  ["exposure docs hiden", { kind: "usage", message: '"hiden" is no exposure; did you mean hidden?' }],
  [
    "exposure docs lazy",
    {
      kind: "usage",
      message: '"lazy" is no exposure; it is one of codemode, codemode-deferred, deferred, direct, hidden',
    },
  ],
  ["exposure docs inherit", { kind: "usage", message: "only a tool can inherit its exposure" }],
];

test.each(rows)("/mcp %s", (typed, request) => expect(readMcpArguments(typed)).toMatchObject(request));
