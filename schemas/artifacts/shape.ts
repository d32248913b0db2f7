/**
 * Whether a parsed artifact has the members that readers rely on. Written by hand because loading may not pay for a
 * JSON Schema validator; each check is one pass over what a reader will touch, and no more. The full
 * schemas (`schemas/*.schema.json`) are for editors and tests.
 */

import type { BudgetFile } from "../budget.schema.ts";
import type { CatalogFile, CatalogTool } from "../catalog.schema.ts";
import { EXPOSURES } from "../config/server-config.ts";
import type { ExposureFile } from "../exposure.schema.ts";
import type { LimitsFile } from "../limits.schema.ts";
import type { Manifest } from "../manifest.schema.ts";
import { isRecord } from "../record.ts";
import type { SearchFile } from "../search.schema.ts";

type Json = Readonly<Record<string, unknown>>;

export function formatVersionOf(value: unknown): unknown {
  return isRecord(value) ? value["formatVersion"] : undefined;
}

export function isManifest(value: unknown): value is Manifest {
  return (
    isRecord(value) &&
    (value["scope"] === "user" || value["scope"] === "project") &&
    isString(value["settings"]) &&
    every(value["servers"], isCompiled) &&
    every(value["files"], isString)
  );
}

function isCompiled(server: unknown): boolean {
  if (!isRecord(server)) return false;
  const { era, supportedVersions } = server;
  return (era === "legacy" || era === "modern") && isListOrNone(supportedVersions, isString);
}

export function isExposure(value: unknown): value is ExposureFile {
  const isTool = (tool: unknown) =>
    isRecord(tool) &&
    isString(tool["server"]) &&
    isString(tool["tool"]) &&
    isExposed(tool["exposure"]) &&
    isString(tool["rule"]);
  return (
    isRecord(value) &&
    every(value["tools"], isTool) &&
    every(value["overrides"], isOverride) &&
    every(value["servers"], (server) => isOverride(server) && Array.isArray(server["toolExposure"]))
  );
}

function isOverride(value: unknown): value is Json {
  if (!isRecord(value)) return false;
  const { enabled, exposure, toolExposure, maxOutputBytes } = value;
  const isRule = (rule: unknown) => isRecord(rule) && isString(rule["pattern"]) && isExposed(rule["exposure"]);
  return (
    (enabled === undefined || typeof enabled === "boolean") &&
    (exposure === undefined || isExposed(exposure)) &&
    (toolExposure === undefined || (Array.isArray(toolExposure) && toolExposure.every(isRule))) &&
    (maxOutputBytes === undefined || isByteCount(maxOutputBytes))
  );
}

export function isLimits(value: unknown): value is LimitsFile {
  const isLimit = (limit: unknown) =>
    isRecord(limit) && isByteCount(limit["maxOutputBytes"]) && isString(limit["source"]);
  return isRecord(value) && isLimit(value["default"]) && every(value["tools"], isLimit);
}

export function isBudget(value: unknown): value is BudgetFile {
  const isEntry = (entry: unknown) =>
    isRecord(entry) && typeof entry["tokens"] === "number" && typeof entry["declared"] === "boolean";
  return isRecord(value) && Array.isArray(value["servers"]) && every(value["tools"], isEntry);
}

export function isCatalog(value: unknown): value is CatalogFile {
  const isServer = (server: unknown) =>
    isRecord(server) &&
    isString(server["name"]) &&
    isTextOrNone(server["description"]) &&
    isTextOrNone(server["instructions"]) &&
    Array.isArray(server["tools"]) &&
    server["tools"].every(isCatalogTool) &&
    isListOrNone(server["promptList"], isPrompt);
  return isRecord(value) && Array.isArray(value["servers"]) && value["servers"].every(isServer);
}

export function isCatalogTool(value: unknown): value is CatalogTool {
  return isShown(value) && isString(value["tool"]);
}

function isPrompt(prompt: unknown): boolean {
  return isShown(prompt) && isString(prompt["prompt"]) && isListOrNone(prompt["arguments"], isShown);
}

/** What people are shown by its name, its title and its description. */
function isShown(value: unknown): value is Json {
  return (
    isRecord(value) && isString(value["name"]) && isTextOrNone(value["title"]) && isTextOrNone(value["description"])
  );
}

function isListOrNone(value: unknown, accepts: (entry: unknown) => boolean): boolean {
  return value === undefined || (Array.isArray(value) && value.every(accepts));
}

export function isSearch(value: unknown): value is SearchFile {
  const isTool = (tool: unknown) =>
    isRecord(tool) && ["name", "server", "tool", "description"].every((key) => isString(tool[key]));
  return (
    isRecord(value) &&
    Array.isArray(value["tools"]) &&
    value["tools"].every(isTool) &&
    Array.isArray(value["index"]) &&
    value["index"].every(isString)
  );
}

const isString = (value: unknown): value is string => typeof value === "string";
const isTextOrNone = (value: unknown): boolean => value === undefined || isString(value);
const isExposed = (value: unknown): boolean => (EXPOSURES as readonly unknown[]).includes(value);
const isByteCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;

function every(value: unknown, accepts: (member: unknown) => boolean): boolean {
  if (!isRecord(value)) return false;
  for (const key of Object.keys(value)) if (!accepts(value[key])) return false;
  return true;
}
