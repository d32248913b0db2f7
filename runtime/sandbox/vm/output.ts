/**
 * `text`, `image` and `console`, and how values and errors read. Runs inside the VM: taken with `toString`, it refers to nothing
 * outside itself.
 */
import type { Bridge } from "./globals.ts";
import type { Serialiser } from "./serialiser.ts";

export interface VmOutput {
  text(value: unknown): void;
  image(value: unknown): void;
  readonly console: object;
  /** An error as JSON of `{ name, message, stack? }`; what was thrown may be no error. */
  describe(error: unknown): string;
}

export function makeOutput(bridge: Bridge, { toJson }: Serialiser): VmOutput {
  const { stringify } = JSON;

  /** Text as a C string can hold it, else as JSON. */
  function emit(kind: "text" | "console", text: string): void {
    const isPlain = (text as { isWellFormed?(): boolean }).isWellFormed!() && !text.includes("\0");
    if (isPlain) bridge(kind, text);
    else bridge(`${kind}-json`, stringify(text));
  }

  /** Strings and numbers as they are, the rest as JSON. */
  function textOf(value: unknown, manner: "output" | "console", what: string): string {
    if (typeof value === "string") return value;
    if (value === null || (typeof value !== "object" && typeof value !== "function")) return String(value);
    if (typeof value === "function") return String(value);
    return toJson(value, manner, what) ?? String(value);
  }

  function framesOf(error: Error): string[] {
    const stack = typeof error.stack === "string" ? error.stack : "";
    const isOurs = (line: string) => line.includes("pimcp:") || line.includes("(native)");
    return stack.split("\n").filter((line) => line.trim() !== "" && !isOurs(line));
  }

  function consoleText(value: unknown): string {
    try {
      if (!(value instanceof Error)) return textOf(value, "console", "");
      const head = value.message ? `${String(value.name)}: ${value.message}` : String(value.name);
      return [head, ...framesOf(value)].join("\n");
    } catch {
      return "[a value that can't be shown]";
    }
  }

  /** Base64 or a `data:` URL; what it holds is looked at outside. */
  const image = (value: unknown): void => {
    const block = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
    const link = block["image_url"];
    const url = typeof link === "object" && link !== null ? (link as { url?: unknown }).url : link;
    const source = typeof value === "string" ? value : typeof url === "string" ? url : block["data"];
    if (typeof source !== "string" || source === "") {
      throw new TypeError('image() takes a base64 data: URL, { image_url }, or { type: "image", data, mimeType }');
    }
    const kind = source === block["data"] ? "image" : "image-url";
    const wrong = bridge(kind, stringify(source));
    if (wrong !== undefined) throw new TypeError(`image(): ${wrong}`);
  };

  function thrownText(value: unknown): string {
    if (value === null || value === undefined) return `the script threw ${value}`;
    const kind = typeof value === "object" ? "an object" : `a ${typeof value}`;
    return `the script threw ${kind}: ${consoleText(value)}`;
  }

  function describe(error: unknown): string {
    try {
      if (!(error instanceof Error)) return stringify({ name: "Error", message: thrownText(error) });
      const stack = framesOf(error).join("\n");
      return stringify({ name: String(error.name), message: String(error.message), stack });
    } catch {
      return '{"name":"Error","message":"the script threw a value that can\'t be described"}';
    }
  }

  const console: Record<string, unknown> = Object.create(null);
  for (const level of ["log", "info", "warn", "error", "debug"]) {
    console[level] = Object.freeze((...args: unknown[]) => emit("console", args.map(consoleText).join(" ")));
  }
  return {
    text: (value) => emit("text", textOf(value, "output", "text(): value")),
    image,
    console: Object.freeze(console),
    describe,
  };
}
