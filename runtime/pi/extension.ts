/**
 * The entry of the Pi extension. Pi evaluates this one file itself: it hands on what only such a file can reach, Pi's own
 * copies of its packages, each loaded when it is first asked for. Node loads everything else, in one file that the build makes.
 */
import { createRequire } from "node:module";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type * as Wiring from "./wiring.ts";

export default function pimcp(pi: ExtensionAPI): void {
  const { wire } = createRequire(import.meta.url)("./wiring.cjs") as typeof Wiring;
  wire(pi, {
    codingAgent: () => import("@earendil-works/pi-coding-agent"),
    tui: () => import("@earendil-works/pi-tui"),
    ai: () => import("@earendil-works/pi-ai"),
  });
}
