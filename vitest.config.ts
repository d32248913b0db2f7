import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Folders whose files take long: real processes, one after the other. The rest fills the gaps at the end. */
const LONG = ["live", "pi", "cli", "faults"];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = LONG.findIndex((folder) => moduleId.includes(`/tests/${folder}/`));
      return found === -1 ? LONG.length : found;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    // Real servers on two slow cores: a test that hangs fails late rather than one that is slow failing by chance.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Twice as many as there are cores: many tests wait for processes rather than for themselves.
    maxWorkers: 4,
    // A worker keeps what it has loaded: the compiler with TypeScript and the SDK take longer to load than most files to run.
    // So no test may leave anything behind: no fake clock, no changed variable, no mock.
    isolate: false,
    sequence: { sequencer: LongFirst },
  },
});
