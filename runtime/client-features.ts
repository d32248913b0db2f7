/**
 * What a server may ask of its client: input from the user, a completion, the roots it may work in. Only what a
 * handler is given for is advertised, because servers offer other tools to clients that can do more.
 */
import type * as Sdk from "@modelcontextprotocol/client";

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
  const paramsOf = (request: { readonly params?: unknown }) => (request.params ?? {}) as Record<string, unknown>;
  if (elicitation) {
    client.setRequestHandler("elicitation/create", async (request) => (await elicitation(paramsOf(request))) as never);
  }
  if (sampling) {
    client.setRequestHandler("sampling/createMessage", async (request) => (await sampling(paramsOf(request))) as never);
  }
  if (roots) client.setRequestHandler("roots/list", async () => ({ roots: [...(await roots())] }) as never);
}
