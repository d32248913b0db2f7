/**
 * What a redirect is, for all who meet one: by the fetch standard the statuses 301, 302, 303, 307 and 308 with a Location,
 * and no other. Whether it is followed is decided by who asked. Pure.
 */

export type Redirect =
  | {
      readonly kind: "to";
      /** Http or https. */
      readonly url: URL;
      /** The request is asked again as it was; otherwise it would become a GET without a body. */
      readonly keepsRequest: boolean;
    }
  /** Its Location is no http or https address. */
  | { readonly kind: "nowhere" };

const KEEPS_METHOD = new Set([307, 308]);
const STATUSES = new Set([301, 302, 303, ...KEEPS_METHOD]);

export function isRedirectStatus(status: number): boolean {
  return STATUSES.has(status);
}

/** Undefined where `response`, the answer to a request of `method` to `from`, is none. */
export function redirectOf({ status, headers }: Response, from: URL | string, method: string): Redirect | undefined {
  const location = isRedirectStatus(status) ? headers.get("location") : null;
  if (location === null) return undefined;
  const url = URL.canParse(location, String(from)) ? new URL(location, from) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return { kind: "nowhere" };
  return { kind: "to", url, keepsRequest: KEEPS_METHOD.has(status) || /^(?:get|head)$/i.test(method) };
}

/** For a person, of a redirect that nobody followed: follows "it". An address is shown without what it may carry. */
export function redirectNote(redirect: Redirect): string {
  if (redirect.kind === "nowhere") return "redirects to no http or https address";
  return `redirects to ${redirect.url.origin}${redirect.url.pathname}, which is not followed`;
}
