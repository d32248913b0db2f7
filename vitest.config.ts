import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    // Real servers on two slow cores: a test that hangs fails late rather than one that is slow failing by chance.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One more than there are cores: many tests wait for processes rather than for themselves.
    maxWorkers: 3,
  },
});
