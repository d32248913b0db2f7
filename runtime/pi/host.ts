/** What only the file that Pi evaluates itself can reach, and hands on: Pi's own copies of its packages. */

export interface PiHost {
  readonly codingAgent: () => Promise<typeof import("@earendil-works/pi-coding-agent")>;
  readonly tui: () => Promise<typeof import("@earendil-works/pi-tui")>;
  readonly ai: () => Promise<typeof import("@earendil-works/pi-ai")>;
}
