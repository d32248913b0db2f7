/**
 * Ports that `fetch` reaches on no host: those of other protocols, listed in the Fetch standard ("bad port"). It refuses them
 * with an error that has no code; this gives it one, so that what helps can be told.
 */

export const REFUSED_PORT = "ERR_REFUSED_PORT";

const PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** What `fetch` rejected with for `url`, with a code where it has none and the port is the reason. */
export function withPortCode(error: unknown, { port }: URL): unknown {
  const cause = error instanceof TypeError ? error.cause : undefined;
  if (!(cause instanceof Error) || "code" in cause || port === "" || !PORTS.has(Number(port))) return error;
  const coded = Object.assign(new Error(cause.message, { cause }), { code: REFUSED_PORT });
  return new TypeError((error as TypeError).message, { cause: coded });
}
