// [..]: constraints of a value. object /* n properties */: cut, describeTool(name) shows all.
type int = number;
// Resolves to the tool's whole MCP CallToolResult, also when isError. structuredContent is absent on errors.
type R<T = unknown> = Promise<{content: Content[]; structuredContent: T; isError?: boolean; _meta?: object}>;
// text: of type text. data (base64), mimeType: of image, audio. uri, name: of resource_link. resource: of resource.
type Content = {type: "text"|"image"|"audio"|"resource_link"|"resource"; text: string; data: string; mimeType: string; uri: string; name: string; resource: {uri: string; mimeType?: string; text?: string; blob?: string}};
declare const tools: {
// mcp__everything: 15 tools. Every feature of the protocol once, for trying things out
// Echoes back the input string
mcp__everything__echo(args: {
 message: string // Message to echo
}): R;
// Demonstrates how annotations can be used to provide metadata about content.
mcp__everything__get_annotated_message(args: {
 includeImage?: boolean // Whether to include an example image
 messageType: "error"|"success"|"debug" // Type of message to demonstrate different annotation patterns
}): R;
// Returns all environment variables, helpful for debugging MCP server configuration
mcp__everything__get_env(): R;
// Returns up to ten resource links that reference different types of resources
mcp__everything__get_resource_links(args?: {
 count?: number // Number of resource links to return (1-10) [1..10, default 3]
}): R;
// Returns a resource reference that can be used by MCP clients
mcp__everything__get_resource_reference(args?: {
 resourceId?: number // ID of the text resource to fetch [default 1]
 resourceType?: "Text"|"Blob" // [default "Text"]
}): R;
// Returns structured content along with an output schema for client data validation
mcp__everything__get_structured_content(args: {
 location: "New York"|"Chicago"|"Los Angeles" // Choose city
}): R<{
 conditions: string // Weather conditions description
 humidity: number // Humidity percentage
 temperature: number // Temperature in celsius
}>;
// Returns the sum of two numbers
mcp__everything__get_sum(args: {
 a: number // First number
 b: number // Second number
}): R;
// Returns a tiny MCP logo image.
mcp__everything__get_tiny_image(): R;
// Compresses a single file using gzip compression. Depending upon the selected output type, returns either the compressed data as a gzipped resource or a resource link, allowing it to be downloaded in a subsequent request during the current session.
mcp__everything__gzip_file_as_resource(args?: {
 data?: string // URL or data URI of the file content to compress [uri]
 name?: string // Name of the output file [default "README.md.gz"]
 outputType?: "resourceLink"|"resource" // How the resulting gzipped file should be returned. 'resourceLink' returns a link to a resource that can be read later, 'resource' returns a full resource object. [default "resourceLink"]
}): R;
// Simulates a deep research operation that gathers, analyzes, and synthesizes information. Demonstrates MCP task-based operations with progress through multiple stages. If 'ambiguous' is true and client supports elicitation, sends an elicitation request for clarification.
mcp__everything__simulate_research_query(args: {
 ambiguous?: boolean // Simulate an ambiguous query that requires clarification (triggers input_required status)
 topic: string // The research topic to investigate
}): R;
// Toggles simulated, random-leveled logging on or off.
mcp__everything__toggle_simulated_logging(): R;
// Toggles simulated resource subscription updates on or off.
mcp__everything__toggle_subscriber_updates(): R;
// Trigger a Request from the Server for User Elicitation
mcp__everything__trigger_elicitation_request(): R;
// Demonstrates a long running operation with progress updates.
mcp__everything__trigger_long_running_operation(args?: {
 duration?: number // Duration of the operation in seconds [default 10]
 steps?: number // Number of steps in the operation [default 5]
}): R;
// Trigger a URL elicitation so the client can direct the user to a browser flow. Supports two mechanisms: the request path (elicitation/create, default) which awaits the user's response, and the error path (UrlElicitationRequiredError, -32042) which signals the client to handle URL elicitation via the error response. Set errorPath=true to use the error path.
mcp__everything__trigger_url_elicitation(args: {
 elicitationId?: string // Optional explicit elicitation ID. Defaults to a random UUID.
 errorPath?: boolean // Controls which elicitation mechanism is used. When false (default), sends an elicitation/create request (request path). When true, throws a UrlElicitationRequiredError (MCP error code -32042) so the…
 message?: string // Message shown to the user before opening the URL
 url: string // The URL the user should open [uri]
}): R;
// mcp__filesystem: 10 tools. Reads and writes files below tests/
// Create a new directory or ensure a directory exists. Can create multiple nested directories in one operation. If the directory already exists, this operation will succeed silently. Perfect for setting up directory structures for projects or ensuring required paths exist. Only works within allowed directories.
mcp__filesystem__create_directory(args: {path: string}): R<{content: string}>;
// Get a recursive tree view of files and directories as a JSON structure. Each entry includes 'name', 'type' (file/directory), and 'children' for directories. Files have no children array, while directories always have a children array (which may be empty). The output is formatted with 2-space indentation for readability. Only works within allowed directories.
mcp__filesystem__directory_tree(args: {excludePatterns?: string[]; path: string}): R<{content: string}>;
// Retrieve detailed metadata about a file or directory. Returns comprehensive information including size, creation time, last modified time, permissions, and type. This tool is perfect for understanding file characteristics without reading the actual content. Only works within allowed directories.
mcp__filesystem__get_file_info(args: {path: string}): R<{content: string}>;
// Get a detailed listing of all files and directories in a specified path. Results clearly distinguish between files and directories with [FILE] and [DIR] prefixes. This tool is essential for understanding directory structure and finding specific files within a directory. Only works within allowed directories.
mcp__filesystem__list_directory(args: {path: string}): R<{content: string}>;
// Get a detailed listing of all files and directories in a specified path, including sizes. Results clearly distinguish between files and directories with [FILE] and [DIR] prefixes. This tool is useful for understanding directory structure and finding specific files within a directory. Only works within allowed directories.
mcp__filesystem__list_directory_with_sizes(args: {
 path: string
 sortBy?: "name"|"size" // Sort entries by name or size [default "name"]
}): R<{content: string}>;
// Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.
mcp__filesystem__read_file(args: {
 head?: number // If provided, returns only the first N lines of the file
 path: string
 tail?: number // If provided, returns only the last N lines of the file
}): R<{content: string}>;
// Read a file and return it as a base64-encoded content block with its MIME type. Image and audio files are returned as image/audio content; any other file type is returned as an embedded resource. Only works within allowed directories.
mcp__filesystem__read_media_file(args: {path: string}): R<{content: ({data: string; mimeType: string; type: "image"|"audio"}|{resource: {blob: string; mimeType?: string; uri: string}; type: "resource"})[]}>;
// Read the contents of multiple files simultaneously. This is more efficient than reading files one by one when you need to analyze or compare multiple files. Each file's content is returned with its path as a reference. Failed reads for individual files won't stop the entire operation. Only works within allowed directories.
mcp__filesystem__read_multiple_files(args: {
 paths: string[] // Array of file paths to read. Each path must be a string pointing to a valid file within allowed directories. [non-empty]
}): R<{content: string}>;
// Read the complete contents of a file from the file system as text. Handles various text encodings and provides detailed error messages if the file cannot be read. Use this tool when you need to examine the contents of a single file. Use the 'head' parameter to read only the first N lines of a file, or the 'tail' parameter to read only the last N lines of a file. Operates on the file as text regardless of extension. Only works within allowed directories.
mcp__filesystem__read_text_file(args: {
 head?: number // If provided, returns only the first N lines of the file
 path: string
 tail?: number // If provided, returns only the last N lines of the file
}): R<{content: string}>;
// Recursively search for files and directories matching a pattern. The patterns should be glob-style patterns that match paths relative to the working directory. Use pattern like '*.ext' to match files in current directory, and '**/*.ext' to match files in all subdirectories. Returns full paths to all matching items. Great for finding files when you don't know their exact location. Only searches within allowed directories.
mcp__filesystem__search_files(args: {excludePatterns?: string[]; path: string; pattern: string}): R<{content: string}>;
// mcp__memory: 2 tools. A knowledge graph that outlives a session
// Open specific nodes in the knowledge graph by their names
mcp__memory__open_nodes(args: {
 names: string[] // An array of entity names to retrieve
}): R<{entities: {
 entityType: string // The type of the entity
 name: string // The name of the entity
 observations: string[] // An array of observation contents associated with the entity
}[]; relations: {
 from: string // The name of the entity where the relation starts
 relationType: string // The type of the relation
 to: string // The name of the entity where the relation ends
}[]}>;
// Search for nodes in the knowledge graph based on a query
mcp__memory__search_nodes(args: {
 query: string // The search query to match against entity names, types, and observation content
}): R<{entities: {
 entityType: string // The type of the entity
 name: string // The name of the entity
 observations: string[] // An array of observation contents associated with the entity
}[]; relations: {
 from: string // The name of the entity where the relation starts
 relationType: string // The type of the relation
 to: string // The name of the entity where the relation ends
}[]}>;
};
