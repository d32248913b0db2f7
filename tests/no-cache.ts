/** A snapshot cache that remembers nothing: every server is asked, every time. */
import type { SnapshotCache } from "../compiler/acquire.ts";

export const noCache: SnapshotCache = {
  find: async () => undefined,
  freshUntil: () => 0,
  store: async (_, snapshot) => ({ snapshot, fetchedAt: 0 }),
};
