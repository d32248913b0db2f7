/**
 * What a server may ask of its client: input from the user, a completion, the roots it may work in. Only what a
 * handler is given for is advertised, because servers offer other tools to clients that can do more.
 */
import { isRecord } from "../schemas/record.ts";
import type { Connection } from "./connect/connection.ts";
import type { Question } from "./questions.ts";

/** Where a question comes from. `signal` is aborted when its answer is no longer wanted: close what you show then. */
export type QuestionContext = Pick<Question, "server" | "tool" | "taskId" | "whenDone" | "signal">;

/** Takes a request's `params` as MCP's schema has them and gives back the result. */
export type QuestionHandler = (
  params: Readonly<Record<string, unknown>>,
  context: QuestionContext,
) => Promise<Record<string, unknown>>;

/** An elicitation handler for one mode, or for both; what isn't here isn't advertised. */
export interface ElicitationModes {
  readonly form?: QuestionHandler | undefined;
  readonly url?: QuestionHandler | undefined;
  /** `notifications/elicitation/complete`: what a URL led to has been done. */
  readonly completed?: ((elicitationId: string, server: string) => void) | undefined;
}

/** A sampling handler that can do more than plain messages. */
export interface SamplingFeatures {
  readonly create: QuestionHandler;
  /** It takes `tools` and `toolChoice`. */
  readonly tools?: boolean;
  /** It takes `includeContext` other than `none`. */
  readonly context?: boolean;
}

export interface ClientHandlers {
  /** `elicitation/create`: asks the user. A plain function takes both modes, `form` and `url`. */
  readonly elicitation?: QuestionHandler | ElicitationModes | undefined;
  /** `sampling/createMessage`: asks a model. Rejects with `DeclinedError` where the user says no. */
  readonly sampling?: QuestionHandler | SamplingFeatures | undefined;
  /** `roots/list`: folders a server may work in, as `file:` URIs. */
  readonly roots?:
    | ((context: QuestionContext) => Promise<readonly { readonly uri: string; readonly name?: string }[]>)
    | undefined;
  /** Why the handlers that aren't here aren't, for the errors of calls that would need one: `nobody is there to ask`. */
  readonly absence?: string | undefined;
}

/** The handler of each elicitation mode. */
export function elicitationModes({ elicitation }: ClientHandlers): ElicitationModes {
  return typeof elicitation === "function" ? { form: elicitation, url: elicitation } : (elicitation ?? {});
}

export function samplingFeatures({ sampling }: ClientHandlers): SamplingFeatures | undefined {
  return typeof sampling === "function" ? { create: sampling } : sampling;
}

/** The client capabilities that go with these handlers. */
export function capabilitiesOf(handlers: ClientHandlers): Record<string, unknown> {
  const { form, url } = elicitationModes(handlers);
  const sampling = samplingFeatures(handlers);
  return {
    ...((form ?? url) && { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } }),
    ...(sampling && {
      sampling: { ...(sampling.tools && { tools: {} }), ...(sampling.context && { context: {} }) },
    }),
    ...(handlers.roots && { roots: {} }),
  };
}

/** Tells the handlers what a server says has been done at a URL it sent the user to. */
export function hearCompletions(connection: Connection, handlers: ClientHandlers): void {
  const { completed } = elicitationModes(handlers);
  if (completed === undefined) return;
  connection.onNotification((method, params) => {
    if (method !== "notifications/elicitation/complete" || !isRecord(params)) return;
    const { elicitationId } = params;
    if (typeof elicitationId === "string") completed(elicitationId, connection.server);
  });
}
