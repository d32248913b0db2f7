// [..]: constraints of a value. object /* n properties */: cut, describeTool(name) shows all.
type int = number;
// Resolves to the tool's whole MCP CallToolResult, also when isError. structuredContent is absent on errors.
type R<T = unknown> = Promise<{content: Content[]; structuredContent: T; isError?: boolean; _meta?: object}>;
// text: of type text. data (base64), mimeType: of image, audio. uri, name: of resource_link. resource: of resource.
type Content = {type: "text"|"image"|"audio"|"resource_link"|"resource"; text: string; data: string; mimeType: string; uri: string; name: string; resource: {uri: string; mimeType?: string; text?: string; blob?: string}};
declare const tools: {
// mcp__a: 1 tool
mcp__a__b__c_01b8a75b(): R;
// mcp__a__b: 1 tool
mcp__a__b__c_a92700ce(): R;
// mcp__docs: 9 tools
mcp__docs____proto__(): R;
mcp__docs__constructor(): R;
mcp__docs__export(): R;
mcp__docs__gr__e_messen_jetzt(): R;
mcp__docs__read_file_d7d89111(): R;
mcp__docs__read_file_89d3d850(): R;
mcp__docs__then(): R;
mcp__docs__xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_17bf8a8f(): R;
mcp__docs__xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_dcc70e20(): R;
};
