/** The tools that reach servers' resources: the names that Codex, OpenCode and Pi give them. */
export const LIST_RESOURCES_TOOL = "list_mcp_resources";
export const LIST_TEMPLATES_TOOL = "list_mcp_resource_templates";
export const READ_RESOURCE_TOOL = "read_mcp_resource";
