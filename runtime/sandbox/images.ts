/** Which images `image()` takes: base64 of a PNG, JPEG, GIF or WebP, told by its first bytes. What it is declared as doesn't count. */
import type { ImageType } from "./protocol.ts";

export type ImageOutcome =
  | { readonly ok: true; readonly data: string; readonly mimeType: ImageType }
  | { readonly ok: false; readonly reason: string };

const SIGNATURES: readonly (readonly [ImageType, RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF.{4}WEBP/s],
];

/** `data:[type];base64,…`. */
export function imageFromUrl(url: string): ImageOutcome {
  if (/^https?:/i.test(url)) return wrong("remote images can't be shown; pass a base64 data: URL");
  const head = /^data:[^,]{0,200}?;base64,/i.exec(url.slice(0, 300));
  return head ? imageFromBase64(url.slice(head[0].length)) : wrong("not a base64 data: URL");
}

export function imageFromBase64(text: string): ImageOutcome {
  const data = /\s/.test(text) ? text.replace(/\s+/g, "") : text;
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    return wrong("the data is not base64, or it was cut");
  const start = Buffer.from(data.slice(0, 32), "base64").toString("latin1");
  const found = SIGNATURES.find(([, pattern]) => pattern.test(start));
  return found ? { ok: true, data, mimeType: found[0] } : wrong("the data is no PNG, JPEG, GIF or WebP image");
}

function wrong(reason: string): ImageOutcome {
  return { ok: false, reason };
}
