/** A finding as a line for a person, with its place in a file where it has one. Pure. */
import type { Diagnostic } from "./diagnostic.ts";

/** `mcp.json:3:5: unknown key`; a message that names the file itself stays as it is. */
export function placed({ file, line, column, message }: Diagnostic): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  return file === undefined || message.includes(file) ? message : `${place}: ${message}`;
}
