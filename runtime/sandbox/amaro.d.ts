/** What is used of amaro, which comes without types. Throws a text: its complaint drawn for a terminal; an Error means that it broke. */
declare module "amaro" {
  export function transformSync(source: string, options: { mode: "strip-only" }): { code: string };
}
