declare function text(value?: unknown): void;
declare function image(
  value: string | { image_url: string | { url: string } } | { type: string; data: string; mimeType: string },
): void;
declare function exit(): never;
declare function store(key: string, value?: unknown): void;
// biome-ignore lint/suspicious/noExplicitAny: whatever a script has stored
declare function load(key: string): any;
declare function searchTools(
  query: string,
  options?: { limit?: number; namespace?: string },
): Promise<{ name: string; description: string }[]>;
declare function describeTool(name: string): Promise<string>;
declare function describeNamespace(
  name: string,
): Promise<{ name: string; description?: string; instructions?: string; tools: string[] }>;
declare const ALL_TOOLS: { name: string; description: string }[];
declare const console: {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  debug(...values: unknown[]): void;
};
