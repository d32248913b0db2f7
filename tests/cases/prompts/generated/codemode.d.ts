// [..]: constraints of a value. object /* n properties */: cut, describeTool(name) shows all.
type int = number;
// Resolves to the tool's whole MCP CallToolResult, also when isError. structuredContent is absent on errors.
type R<T = unknown> = Promise<{content: Content[]; structuredContent: T; isError?: boolean; _meta?: object}>;
// text: of type text. data (base64), mimeType: of image, audio. uri, name: of resource_link. resource: of resource.
type Content = {type: "text"|"image"|"audio"|"resource_link"|"resource"; text: string; data: string; mimeType: string; uri: string; name: string; resource: {uri: string; mimeType?: string; text?: string; blob?: string}};
declare const tools: {
// mcp__plain: 1 tool
mcp__plain__note(): R;
// mcp__writer: 1 tool
mcp__writer__draft(): R;
};
