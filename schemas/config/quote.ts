/**
 * A value of a configuration file as a message may show it: short, on one line, without characters
 * that a terminal acts on. Never used for values of `env`, `headers`, `args`, `url` or `oauth.clientSecret`:
 * those may be secrets and appear in no message at all.
 */
const LONGEST = 60;

/** `"text"` for a string, the literal for other scalars, cut at 60 characters. */
export function quoted(value: string | number | boolean | null): string {
  if (typeof value !== "string") return String(value);
  const characters = [...value];
  const short = characters.length > LONGEST ? `${characters.slice(0, LONGEST).join("")}…` : value;
  return JSON.stringify(short).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
