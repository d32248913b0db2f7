/**
 * What a MIME type or the first bytes of a file mean for showing and saving it. Types come from
 * servers, so they choose from a fixed list here and never become part of a file name.
 */

/** Extensions that a saved file may have. Nothing an operating system would run when opened. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["application/gzip", ".gz"],
  ["application/json", ".json"],
  ["application/pdf", ".pdf"],
  ["application/vnd.openxmlformats-officedocument.presentationml.presentation", ".pptx"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx"],
  ["application/wasm", ".wasm"],
  ["application/x-tar", ".tar"],
  ["application/xml", ".xml"],
  ["application/zip", ".zip"],
  ["audio/aac", ".aac"],
  ["audio/flac", ".flac"],
  ["audio/mp4", ".m4a"],
  ["audio/mpeg", ".mp3"],
  ["audio/ogg", ".ogg"],
  ["audio/wav", ".wav"],
  ["audio/webm", ".weba"],
  ["audio/x-wav", ".wav"],
  ["image/avif", ".avif"],
  ["image/bmp", ".bmp"],
  ["image/gif", ".gif"],
  ["image/jpeg", ".jpg"],
  ["image/png", ".png"],
  ["image/svg+xml", ".svg"],
  ["image/tiff", ".tiff"],
  ["image/webp", ".webp"],
  ["text/csv", ".csv"],
  ["text/html", ".txt"],
  ["text/markdown", ".md"],
  ["text/plain", ".txt"],
  ["video/mp4", ".mp4"],
  ["video/webm", ".webm"],
]);

/** Base64 of the first bytes of common files. */
const SIGNATURES: readonly (readonly [base64: string, mimeType: string])[] = [
  ["iVBORw0KGg", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["JVBERi0", "application/pdf"],
  ["UEsDB", "application/zip"],
  ["H4sI", "application/gzip"],
  ["SUkqA", "image/tiff"],
  ["T2dnUw", "audio/ogg"],
  ["SUQz", "audio/mpeg"],
  ["ZkxhQ", "audio/flac"],
];

/** `type/subtype` in lower case without parameters; undefined where that isn't what it says. */
export function essenceOf(mimeType: unknown): string | undefined {
  if (typeof mimeType !== "string") return undefined;
  const essence = mimeType.split(";", 1)[0]!.trim().toLowerCase();
  return /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/.test(essence) ? essence : undefined;
}

/** Extension, dot included, for a file of this type: one of a fixed list, `.bin` for the rest. */
export function extensionFor(mimeType: unknown): string {
  return EXTENSIONS.get(essenceOf(mimeType) ?? "") ?? ".bin";
}

export function isImage(mimeType: unknown): boolean {
  return essenceOf(mimeType)?.startsWith("image/") ?? false;
}

/** Blobs of these types are shown as text. */
export function isTextual(mimeType: unknown): boolean {
  const essence = essenceOf(mimeType);
  if (essence === undefined) return false;
  if (essence.startsWith("text/") || essence.endsWith("+json")) return true;
  return (
    essence === "application/json" || essence === "application/xml" || (essence.endsWith("+xml") && !isImage(essence))
  );
}

/** The type that base64 data begins like, if it begins like one of the common binary formats. */
export function sniffBase64(base64: string): string | undefined {
  const [, mimeType] = SIGNATURES.find(([prefix]) => base64.startsWith(prefix)) ?? [];
  if (mimeType !== undefined || !base64.startsWith("UklGR")) return mimeType;
  // RIFF says what it holds in its bytes 8 to 11.
  const form = Buffer.from(base64.slice(0, 16), "base64").toString("latin1").slice(8, 12);
  return form === "WEBP" ? "image/webp" : form === "WAVE" ? "audio/wav" : "application/octet-stream";
}

/** `512 B`, `9.8 KB`, `1.2 MB`; 1 KB is 1024 bytes. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const kilobytes = bytes / 1024;
  return kilobytes < 1024 ? `${kilobytes.toFixed(1)} KB` : `${(kilobytes / 1024).toFixed(1)} MB`;
}
