/**
 * What a server may ask of its client: input from the user, a completion, the roots it may work in. Only what a
 * handler is given for is advertised, because servers offer other tools to clients that can do more.
 */
import type * as Sdk from "@modelcontextprotocol/client";
import { HandlerFailedError } from "./connect/failure.ts";

/** Handlers take the request's `params` as MCP's schema has them and give back the result. */
export interface ClientHandlers {
  /** `elicitation/create`: asks the user. */
  readonly elicitation?: (params: Readonly<Record<string, unknown>>) => Promise<Record<string, unknown>>;
  /** `sampling/createMessage`: asks a model. */
  readonly sampling?: (params: Readonly<Record<string, unknown>>) => Promise<Record<string, unknown>>;
  /** `roots/list`: folders a server may work in, as `file:` URIs. */
  readonly roots?: () => Promise<readonly { readonly uri: string; readonly name?: string }[]>;
}

/** The client capabilities that go with these handlers. */
export function capabilitiesOf(handlers: ClientHandlers): Record<string, unknown> {
  return {
    ...(handlers.elicitation && { elicitation: { form: {}, url: {} } }),
    ...(handlers.sampling && { sampling: {} }),
    ...(handlers.roots && { roots: {} }),
  };
}

/** Registers the handlers with a client that is about to connect. */
export function registerHandlers(client: Sdk.Client, handlers: ClientHandlers): void {
  const { elicitation, sampling, roots } = handlers;
  if (elicitation) client.setRequestHandler("elicitation/create", (request) => answer(elicitation, request) as never);
  if (sampling) client.setRequestHandler("sampling/createMessage", (request) => answer(sampling, request) as never);
  if (roots) {
    const listed = async () => ({ roots: [...(await roots())] });
    client.setRequestHandler("roots/list", (request) => answer(listed, request) as never);
  }
}

type Handler = (params: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** A handler's own failure is told apart from the connection's. */
async function answer(handler: Handler, request: { readonly params?: unknown }): Promise<unknown> {
  try {
    return await handler((request.params ?? {}) as Record<string, unknown>);
  } catch (error) {
    throw new HandlerFailedError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
