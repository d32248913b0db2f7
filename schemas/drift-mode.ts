/** What becomes of calls to tools whose definition changed since they were compiled. From the milder to the stricter. */
export const DRIFT_MODES = ["warn", "block"] as const;
export type DriftMode = (typeof DRIFT_MODES)[number];
