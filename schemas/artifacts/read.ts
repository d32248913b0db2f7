/**
 * Reads one folder of artifacts and trusts nothing in it: the manifest's format and shape are checked, and every
 * other file is compared with the manifest's digest at the moment it is read. A file is read when it
 * is first asked for and kept. Pure but for the reader it is given; a folder that can't be used is a
 * Diagnostic, never a throw.
 */
import type { BudgetFile } from "../budget.schema.ts";
import { sha256 } from "../canonical.ts";
import type { CatalogTool } from "../catalog.schema.ts";
import { type Diagnostic, type DiagnosticCode, diagnostic } from "../diagnostic.ts";
import type { ExposureFile } from "../exposure.schema.ts";
import type { LimitsFile } from "../limits.schema.ts";
import type { Manifest } from "../manifest.schema.ts";
import type { SearchFile } from "../search.schema.ts";
import { type Catalog, readCatalog } from "./catalog.ts";
import * as shape from "./shape.ts";

/** Bytes of a file of the folder by its path in it, or why there are none. */
export type ReadFile = (path: string) => Uint8Array | ReadFailure;
export interface ReadFailure {
  /** There is no such file; otherwise it is there and can't be read. */
  readonly missing: boolean;
  readonly message: string;
}

/** A value, or the one finding that stands in its way. */
export type Loaded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

export interface JsonArtifacts {
  readonly "exposure.json": ExposureFile;
  readonly "limits.json": LimitsFile;
  readonly "budget.json": BudgetFile;
  readonly "search.json": SearchFile;
}

export interface ArtifactFolder {
  /** The folder as messages name it. */
  readonly label: string;
  readonly manifest: Manifest;
  /** A JSON artifact: verified, parsed and checked once, then kept. */
  readonly json: <Path extends keyof JsonArtifacts>(path: Path) => Loaded<JsonArtifacts[Path]>;
  /** catalog.json: verified once, each tool parsed when it is asked for. */
  readonly catalog: () => Loaded<Catalog>;
  /** A tool of the catalog by its folded name. */
  readonly tool: (name: string) => Loaded<CatalogTool | undefined>;
  /** Text of any file the manifest names, such as `codemode.d.ts`; verified on every read. */
  readonly text: (path: string) => Loaded<string>;
}

/** The artifact format that this version writes and reads. */
export const FORMAT_VERSION = 1;

/** Opens a folder by its manifest. Errors: `artifacts-missing`, `artifacts-format`, `artifacts-torn`. */
export function openArtifacts(label: string, readFile: ReadFile): Loaded<ArtifactFolder> {
  const bytes = readFile("manifest.json");
  if (!(bytes instanceof Uint8Array)) {
    if (bytes.missing) return refuse(label, "artifacts-missing", "there are no artifacts");
    return refuse(label, "artifacts-missing", `manifest.json can't be read (${bytes.message})`);
  }
  const manifest = parse(label, "manifest.json", decode(bytes), shape.isManifest);
  if (!manifest.ok) return manifest;
  const text = (path: string) => readVerified(label, manifest.value, path, readFile);
  const kept = new Map<string, Loaded<unknown>>();
  const json = <Path extends keyof JsonArtifacts>(path: Path): Loaded<JsonArtifacts[Path]> => {
    const known = kept.get(path);
    if (known) return known as Loaded<JsonArtifacts[Path]>;
    const content = text(path);
    const loaded = content.ok ? parse(label, path, content.value, SHAPES[path]) : content;
    kept.set(path, loaded);
    return loaded as Loaded<JsonArtifacts[Path]>;
  };
  let known: Loaded<Catalog> | undefined;
  const catalog = () => {
    if (known !== undefined) return known;
    const content = text("catalog.json");
    known = content.ok ? parseWith(label, "catalog.json", () => readCatalog(content.value)) : content;
    return known;
  };
  const tool = (name: string): Loaded<CatalogTool | undefined> => {
    const opened = catalog();
    if (!opened.ok) return opened;
    const found = opened.value.tool(name);
    return found === "unreadable" ? refuseShape(label, "catalog.json") : { ok: true, value: found };
  };
  return { ok: true, value: { label, manifest: manifest.value, json, catalog, tool, text } };
}

const SHAPES: { readonly [Path in keyof JsonArtifacts]: (value: unknown) => value is JsonArtifacts[Path] } = {
  "exposure.json": shape.isExposure,
  "limits.json": shape.isLimits,
  "budget.json": shape.isBudget,
  "search.json": shape.isSearch,
};

function readVerified(label: string, manifest: Manifest, path: string, readFile: ReadFile): Loaded<string> {
  if (!Object.hasOwn(manifest.files, path)) return refuse(label, "artifacts-torn", `manifest.json knows no ${path}`);
  const bytes = readFile(path);
  if (!(bytes instanceof Uint8Array)) {
    return refuse(
      label,
      "artifacts-torn",
      `${path} ${bytes.missing ? "is missing" : `can't be read (${bytes.message})`}`,
    );
  }
  if (sha256(bytes) === manifest.files[path]) return { ok: true, value: decode(bytes) };
  // git may have converted the line ends on its way out of the repository; nothing we write holds a carriage return.
  const text = decode(bytes).replaceAll("\r\n", "\n");
  if (sha256(text) === manifest.files[path]) return { ok: true, value: text };
  return refuse(label, "artifacts-torn", `${path} is not the file that manifest.json was written for`, [
    "an interrupted compile, an edit by hand or a half-resolved merge does this",
  ]);
}

function parse<T>(label: string, path: string, text: string, isShape: (value: unknown) => value is T): Loaded<T> {
  return parseWith(label, path, () => {
    const value: unknown = JSON.parse(text);
    return { version: shape.formatVersionOf(value), value: isShape(value) ? value : undefined };
  });
}

/** `read` throws where the file is no JSON; without a `value` it has another shape. */
function parseWith<T>(
  label: string,
  path: string,
  read: () => { readonly version: unknown; readonly value: T | undefined },
): Loaded<T> {
  let found: ReturnType<typeof read>;
  try {
    found = read();
  } catch {
    return refuse(label, "artifacts-torn", `${path} is not JSON`);
  }
  const { version, value } = found;
  if (version !== FORMAT_VERSION) {
    const has = typeof version === "number" ? `format ${version}` : "no format version";
    return refuse(label, "artifacts-format", `${path} has ${has}; this pimcp reads format ${FORMAT_VERSION}`);
  }
  return value === undefined ? refuseShape(label, path) : { ok: true, value };
}

function refuseShape(label: string, path: string): Loaded<never> {
  return refuse(label, "artifacts-format", `${path} has not the shape of format ${FORMAT_VERSION}`);
}

/** The message names the folder itself: it is read where no file is printed beside it, too. */
function refuse(label: string, code: DiagnosticCode, what: string, notes: string[] = []): Loaded<never> {
  return {
    ok: false,
    diagnostic: diagnostic(code, `${label}: ${what}; run \`pimcp compile\``, { notes }),
  };
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
