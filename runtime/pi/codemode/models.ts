/**
 * `models` for scripts, as Pi's docs/codemode.md describes it: the catalog of models, classifiers and image models, over the session's
 * own registry. A script names a model by provider and id; whatever else it says of one never reaches a provider, nor do scripts
 * see headers, which may hold credentials. Calls appear in the tool's row and their cost with its result.
 */
import type { ExtensionToolContext } from "@earendil-works/pi-coding-agent";
import { isRecord } from "../../../schemas/record.ts";
import type { HostFunction } from "../../sandbox/host.ts";
import type { CallRows } from "./call-rows.ts";
import { classifierContext, imagesContext } from "./model-contexts.ts";
import type { ModelUsage, UsageTotal } from "./usage-total.ts";

type Registry = Pick<
  ExtensionToolContext["modelRegistry"],
  "getModelsOfType" | "getAvailableOfType" | "getModelOfType" | "classify" | "generateImages"
>;
const TYPES = ["chat", "image", "classifier"] as const;
type ModelType = (typeof TYPES)[number];

export interface ModelSurroundings {
  readonly registry: Registry;
  readonly rows: CallRows;
  readonly usage: UsageTotal;
  /** Hears of images that were made. */
  readonly onImages: (count: number) => void;
}

/** Calls of classifiers and image models that one script has under way at a time. */
const AT_ONCE = 4;

export function modelFunctions(around: ModelSurroundings): Readonly<Record<string, HostFunction>> {
  const { registry, onImages } = around;
  const run = runner(around);
  return {
    "models.getModelsOfType": ([type, provider]) =>
      registry.getModelsOfType(typeOf(type), providerOf(provider)).map(shown),
    "models.getAvailableOfType": async ([type, provider], { signal }) =>
      (await registry.getAvailableOfType(typeOf(type), providerOf(provider), { signal })).map(shown),
    "models.getModelOfType": ([type, provider, id]) => {
      if (typeof provider !== "string" || typeof id !== "string") {
        throw new TypeError(
          'models.getModelOfType(type, provider, id) takes three strings, as in ("image", "openrouter", "name")',
        );
      }
      const model = registry.getModelOfType(typeOf(type), provider, id);
      return model && shown(model);
    },
    "models.classify": ([model, context], { signal }) =>
      run("models.classify", "classifier", model, () => {
        const checked = classifierContext(context);
        return (resolved) => registry.classify(resolved, checked, { signal });
      }),
    "models.generateImages": ([model, context], { signal }) =>
      run("models.generateImages", "image", model, () => {
        const checked = imagesContext(context);
        return async (resolved) => {
          const result = await registry.generateImages(resolved, checked, { signal });
          onImages(result.output.filter((block) => block.type === "image").length);
          return result;
        };
      }),
  };
}

interface ModelResult {
  readonly stopReason: "stop" | "error" | "aborted";
  readonly errorMessage?: string;
  readonly usage?: ModelUsage;
}
type ResolvedModel<T extends ModelType> = NonNullable<ReturnType<typeof getTyped<T>>>;

function getTyped<T extends ModelType>(registry: Registry, type: T, provider: string, id: string) {
  return registry.getModelOfType(type, provider, id);
}

function runner({ registry, rows, usage }: ModelSurroundings) {
  const turn = limited(AT_ONCE);
  return async <T extends ModelType, R extends ModelResult>(
    name: string,
    type: T,
    model: unknown,
    prepare: () => (resolved: ResolvedModel<T>) => Promise<R>,
  ): Promise<R> => {
    const resolved = resolve(registry, name, type, model);
    const call = prepare();
    const end = rows.begin(name, `${resolved.provider}/${resolved.id}`);
    const result = await turn(() => call(resolved));
    const status = result.stopReason === "stop" ? "ok" : result.stopReason === "aborted" ? "cancelled" : "error";
    const { errorMessage, usage: used } = result;
    if (used) usage.add(used);
    end({ status, ...(errorMessage && { error: errorMessage }), ...(used && { cost: used.cost.total }) });
    return result;
  };
}

function resolve<T extends ModelType>(registry: Registry, name: string, type: T, model: unknown): ResolvedModel<T> {
  const hint = `models.getAvailableOfType("${type}") lists those that can be used`;
  const { provider, id } = isRecord(model) ? model : {};
  if (typeof provider !== "string" || typeof id !== "string") {
    throw new TypeError(`${name}() takes a ${type} model first, an object with provider and id; ${hint}`);
  }
  const resolved = getTyped(registry, type, provider, id);
  if (resolved) return resolved as ResolvedModel<T>;
  const other = TYPES.find((one) => one !== type && registry.getModelOfType(one, provider, id) !== undefined);
  const what = other ? `${provider}/${id} is of type ${other}` : `there is no ${type} model ${provider}/${id}`;
  throw new Error(`${what}; ${hint}`);
}

function typeOf(value: unknown): ModelType {
  const type = TYPES.find((one) => one === value);
  if (type === undefined)
    throw new TypeError(`a model's type is "chat", "image" or "classifier", not ${JSON.stringify(value)}`);
  return type;
}

function providerOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new TypeError("a provider is named by a string");
  return value;
}

function shown(model: object): object {
  const { headers, ...info } = model as { headers?: unknown };
  return info;
}

/** At most `most` at a time, in the order they came. */
function limited(most: number) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= most) await new Promise<void>((resume) => waiting.push(resume));
    else running++;
    try {
      return await work();
    } finally {
      // Whoever waits takes over the place.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
