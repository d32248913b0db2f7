/** The JSON Schemas of the resource tools' arguments and results. Data, and nothing but. */

const text = { type: "string" } as const;
const described = (description: string) => ({ type: "string", description });

export const LIST_PARAMETERS = {
  type: "object",
  properties: {
    server: described("Name of an MCP server; without it all servers with resources are listed."),
    cursor: described("The `nextCursor` of the same server's last page; without it the list begins at its start."),
  },
  additionalProperties: false,
} as const;

export const READ_PARAMETERS = {
  type: "object",
  properties: {
    server: described("Name of the MCP server, as `list_mcp_resources` gives it."),
    uri: described("URI of the resource."),
  },
  required: ["server", "uri"],
  additionalProperties: false,
} as const;

const COMMON = { name: text, title: text, description: text, mimeType: text } as const;

export const LISTED_RESOURCE = {
  type: "object",
  properties: { server: text, uri: text, ...COMMON, size: { type: "number" } },
  required: ["server", "uri", "name"],
} as const;

export const LISTED_TEMPLATE = {
  type: "object",
  properties: { server: text, uriTemplate: text, ...COMMON },
  required: ["server", "uriTemplate", "name"],
} as const;

/** `{ server?, <member>: [item], nextCursor?, errors? }` */
export function listSchema(member: string, item: object): object {
  return {
    type: "object",
    properties: {
      server: text,
      [member]: { type: "array", items: item },
      nextCursor: text,
      errors: {
        type: "array",
        description: "Servers that could not be listed",
        items: { type: "object", properties: { server: text, error: text }, required: ["server", "error"] },
      },
    },
    required: [member],
  };
}

export const READ_RESULT = {
  type: "object",
  properties: {
    server: text,
    uri: text,
    contents: {
      type: "array",
      items: {
        type: "object",
        properties: { uri: text, mimeType: text, text, blob: described("base64") },
        required: ["uri"],
      },
    },
  },
  required: ["server", "uri", "contents"],
} as const;
