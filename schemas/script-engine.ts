/** Whose sandbox runs the scripts of Pi's codemode tool: Pi's own, or the one of this package. */
export const SCRIPT_ENGINES = ["pi", "pimcp"] as const;
export type ScriptEngine = (typeof SCRIPT_ENGINES)[number];
