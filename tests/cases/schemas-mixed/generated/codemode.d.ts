// [..]: constraints of a value. object /* n properties */: cut, describeTool(name) shows all.
type int = number;
// Resolves to the tool's whole MCP CallToolResult, also when isError. structuredContent is absent on errors.
type R<T = unknown> = Promise<{content: Content[]; structuredContent: T; isError?: boolean; _meta?: object}>;
// text: of type text. data (base64), mimeType: of image, audio. uri, name: of resource_link. resource: of resource.
type Content = {type: "text"|"image"|"audio"|"resource_link"|"resource"; text: string; data: string; mimeType: string; uri: string; name: string; resource: {uri: string; mimeType?: string; text?: string; blob?: string}};
declare const tools: {
// mcp__zoo: 9 tools
mcp__zoo__anything(args: unknown): R;
mcp__zoo__closed_conditional(args: {host?: string; on: boolean}): R;
mcp__zoo__diamond(args?: {a?: {a?: {a?: L2_1539c0; b?: L2_1539c0}; b?: {a?: L2_1539c0; b?: L2_1539c0}}}): R;
mcp__zoo__draft04(args?: {
 items?: unknown[]
 n?: int // [> 0]
}): R;
mcp__zoo__external(args?: {x?: unknown /* external $ref */; y?: unknown /* missing $ref */}): R;
mcp__zoo__no_input(args?: object): R;
mcp__zoo__odd_enum(args?: {$ref?: string; __proto__?: string; description?: string; v?: ""|"9lives"|"a\"b"|"a\nb"|null}): R;
mcp__zoo__recursive(args?: {root?: Node_b6d6c7}): R;
mcp__zoo__tuples(args?: {new?: [string, number]; old?: [string, number]}): R<{x?: string|null; y?: int|null}>;
};
type L10_2cdb29 = {a?: {a?: L12_07d60f; b?: L12_07d60f}; b?: {a?: L12_07d60f; b?: L12_07d60f}};
type L12_07d60f = {a?: {a?: L14_230335; b?: L14_230335}; b?: {a?: L14_230335; b?: L14_230335}};
type L14_230335 = {a?: {a?: L16_5b4858; b?: L16_5b4858}; b?: {a?: L16_5b4858; b?: L16_5b4858}};
type L16_5b4858 = {a?: {a?: L18_865a76; b?: L18_865a76}; b?: {a?: L18_865a76; b?: L18_865a76}};
type L18_865a76 = {a?: {a?: L20_c9e858; b?: L20_c9e858}; b?: {a?: L20_c9e858; b?: L20_c9e858}};
type L20_c9e858 = {a?: {a?: L22_22cf41; b?: L22_22cf41}; b?: {a?: L22_22cf41; b?: L22_22cf41}};
type L22_22cf41 = {a?: {a?: string; b?: string}; b?: {a?: string; b?: string}};
type L2_1539c0 = {a?: {a?: L4_f43745; b?: L4_f43745}; b?: {a?: L4_f43745; b?: L4_f43745}};
type L4_f43745 = {a?: {a?: L6_8a0fb3; b?: L6_8a0fb3}; b?: {a?: L6_8a0fb3; b?: L6_8a0fb3}};
type L6_8a0fb3 = {a?: {a?: L8_e9dfe2; b?: L8_e9dfe2}; b?: {a?: L8_e9dfe2; b?: L8_e9dfe2}};
type L8_e9dfe2 = {a?: {a?: L10_2cdb29; b?: L10_2cdb29}; b?: {a?: L10_2cdb29; b?: L10_2cdb29}};
type Node_b6d6c7 = {
 inverse?: Node_b6d6c7 // the other way
 value?: string
};
