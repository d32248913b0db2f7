/**
 * What the resource tools do when they are called. Servers are asked at the same time; one that can't be listed is an error
 * beside the others' resources. Output is within the limits of tools; scripts get the JSON as it is.
 */
import type { ServerEntry } from "../../../schemas/artifacts/tool-table.ts";
import { isRecord } from "../../../schemas/record.ts";
import type { ContentBlock } from "../../codegen/v1.ts";
import { isAppResource } from "../../limits/blocks.ts";
import { limitResult } from "../../limits/result.ts";
import type { ResourceContents, Resources } from "../../resources.ts";
import { messageOf } from "../in-background.ts";
import type { PiSession } from "../session.ts";
import type { PiToolResult } from "../tools/call-tool.ts";
import { contentLimit } from "./content-limit.ts";
import { LIST_RESOURCES_TOOL, LIST_TEMPLATES_TOOL, READ_RESOURCE_TOOL } from "./resource-names.ts";
import { resourceServers } from "./resource-tools.ts";

type Item = Readonly<Record<string, unknown>>;
type Signal = AbortSignal | undefined;
type Listing = (resources: Resources, server: string, signal: AbortSignal) => Promise<readonly Item[]>;

export function listResources(session: PiSession, args: unknown, signal: Signal): Promise<PiToolResult> {
  const list: Listing = (resources, server, ended) => resources.list(server, { signal: ended });
  return listing(session, { tool: LIST_RESOURCES_TOOL, member: "resources", list }, args, signal);
}

export function listTemplates(session: PiSession, args: unknown, signal: Signal): Promise<PiToolResult> {
  const list: Listing = (resources, server, ended) => resources.templates(server, { signal: ended });
  return listing(session, { tool: LIST_TEMPLATES_TOOL, member: "resourceTemplates", list }, args, signal);
}

export async function readResource(session: PiSession, args: unknown, signal: Signal): Promise<PiToolResult> {
  const uri = argument(args, "uri");
  const server = serverNamed(session, argument(args, "server"));
  if (uri === undefined) throw new Error("uri must be given");
  const resources = await session.runtime.resources();
  const read = await resources.read(server.name, uri, { signal: ending(session, signal) });
  const contents = read.map(withoutMeta);
  // More than one, such as a folder's, are each headed by their URI.
  const content = read.flatMap((one): ContentBlock[] => [
    ...(read.length > 1 ? [{ type: "text" as const, text: `${one.uri}:` }] : []),
    { type: "resource", resource: one as ResourceContents & { text: string } },
  ]);
  const empty: ContentBlock[] = [{ type: "text", text: `Resource ${uri} is empty.` }];
  const shown = content.length === 0 ? empty : content;
  return result(session, { tool: READ_RESOURCE_TOOL, server: server.name }, shown, {
    server: server.name,
    uri,
    contents,
  });
}

interface ListingKind {
  readonly tool: string;
  readonly member: "resources" | "resourceTemplates";
  readonly list: Listing;
}

async function listing(session: PiSession, kind: ListingKind, args: unknown, signal: Signal): Promise<PiToolResult> {
  const wanted = argument(args, "server");
  const cursor = argument(args, "cursor");
  if (cursor !== undefined) throw new Error("there is no such page: lists are given whole, without nextCursor");
  const servers = wanted === undefined ? resourceServers(session.table) : [serverNamed(session, wanted)];
  const resources = await session.runtime.resources();
  const ended = ending(session, signal);
  const lists = await Promise.allSettled(servers.map((server) => kind.list(resources, server.name, ended)));
  const [first] = lists;
  if (wanted !== undefined && first?.status === "rejected") throw first.reason;
  const items: Item[] = [];
  const errors: Item[] = [];
  for (const [index, list] of lists.entries()) {
    const server = servers[index]!.name;
    if (list.status === "rejected") errors.push({ server, error: messageOf(list.reason) });
    else items.push(...list.value.filter((item) => !isApp(item)).map((item) => ({ server, ...withoutMeta(item) })));
  }
  const payload = {
    ...(wanted !== undefined && { server: wanted }),
    [kind.member]: items,
    ...(errors.length > 0 && { errors }),
  };
  const text: ContentBlock[] = [{ type: "text", text: JSON.stringify(payload) }];
  return result(session, { tool: kind.tool, server: wanted ?? "" }, text, payload);
}

interface Subject {
  readonly tool: string;
  readonly server: string;
}

async function result(
  { store, table }: PiSession,
  { tool, server }: Subject,
  content: ContentBlock[],
  payload: object,
): Promise<PiToolResult> {
  const limited = await limitResult({ content }, { server, tool, store, maxBytes: contentLimit(table, server) });
  return {
    content: limited.content.map((block) => ({ ...block })),
    details: { server, tool, ...(limited.path !== undefined && { fullOutputPath: limited.path }) },
    structuredContent: payload as NonNullable<PiToolResult["structuredContent"]>,
  };
}

function serverNamed(session: PiSession, name: string | undefined): ServerEntry {
  const servers = resourceServers(session.table);
  const found = servers.find((server) => server.name === name);
  if (found) return found;
  const names = servers.map((server) => server.name);
  throw new Error(
    name === undefined
      ? "server must be given"
      : `server "${name}" has no resources; those that have: ${names.join(", ")}`,
  );
}

function argument(args: unknown, name: string): string | undefined {
  const value = isRecord(args) ? args[name] : undefined;
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function ending(session: PiSession, signal: Signal): AbortSignal {
  return signal ? AbortSignal.any([signal, session.signal]) : session.signal;
}

function isApp(item: Item): boolean {
  return isAppResource({ uri: item["uri"] ?? item["uriTemplate"], mimeType: item["mimeType"] });
}

function withoutMeta<T extends Item>(item: T): Omit<T, "_meta" | "icons"> {
  const { _meta, icons, ...rest } = item;
  return rest;
}
