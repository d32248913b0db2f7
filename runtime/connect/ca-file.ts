/** Reads the file of a server's `caFile`: certificates in PEM, each of which must be one. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";

/** `reason` follows the file's name. */
export type CaFile = { readonly ok: true; readonly pem: string } | { readonly ok: false; readonly reason: string };

export async function readCaFile(path: string): Promise<CaFile> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { ok: false, reason: code === "ENOENT" ? "doesn't exist" : `can't be read (${code})` };
  }
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) return { ok: false, reason: "holds no certificate in PEM" };
  const broken = blocks.findIndex((block) => !isCertificate(block));
  if (broken !== -1)
    return { ok: false, reason: `holds a certificate that is none, the ${broken + 1}. of ${blocks.length}` };
  return { ok: true, pem: blocks.join("\n") };
}

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).fingerprint256 !== "";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith("ERR_")) return false;
    throw error;
  }
}
