/** Which keys do what to a server in its present state, and the help that says so. Pure. */
import { isOn, type ServerRow } from "../servers/server-overview.ts";
import type { Screen } from "./screen.ts";

export type Hint = readonly [key: string, does: string];

export type KeyAction = "toggle" | "toggle-in-project" | "exposure" | "reconnect" | "compile" | "login" | "logout";

interface Key {
  readonly key: string;
  readonly action: KeyAction;
  readonly does: (row: ServerRow) => string;
  readonly isFor: (row: ServerRow) => boolean;
}

const isUsable = ({ kind }: ServerRow) => kind !== "gone" && kind !== "invalid";

const KEYS: readonly Key[] = [
  { key: "s", action: "login", does: () => "sign in", isFor: (row) => isOn(row) && row.isSignable },
  { key: "o", action: "logout", does: () => "sign out", isFor: (row) => isOn(row) && row.isSignable },
  { key: "r", action: "reconnect", does: () => "reconnect", isFor: (row) => isOn(row) && row.isCompiled },
  { key: "c", action: "compile", does: () => "compile", isFor: isOn },
  { key: "e", action: "exposure", does: () => "exposure", isFor: isOn },
  { key: "d", action: "toggle", does: (row) => (row.kind === "disabled" ? "enable" : "disable"), isFor: isUsable },
  {
    key: "p",
    action: "toggle-in-project",
    does: (row) => `${row.kind === "disabled" ? "enable" : "disable"} in this project`,
    isFor: (row) => isUsable(row) && row.scope === "user",
  },
];

/** What a key does to this server; undefined where it does nothing. */
export function actionOf(key: string, row: ServerRow | undefined): KeyAction | undefined {
  return row && KEYS.find((one) => one.key === key && one.isFor(row))?.action;
}

export function keysOf(row: ServerRow | undefined): readonly Hint[] {
  return row === undefined ? [] : KEYS.filter((one) => one.isFor(row)).map(({ key, does }) => [key, does(row)]);
}

/** The hints in as many lines as they take, none broken in two. */
export function helpLines(screen: Screen, hints: readonly Hint[]): readonly string[] {
  const lines: string[] = [];
  for (const [key, does] of hints) {
    const hint = `${key} ${does}`;
    const last = lines.at(-1);
    if (last !== undefined && last.length + hint.length + 5 <= screen.width)
      lines[lines.length - 1] = `${last} · ${hint}`;
    else lines.push(hint);
  }
  return [
    "",
    ...lines.map((line) => screen.cut(` ${screen.paint("dim", screen.cut(line, Math.max(screen.width - 2, 1)))}`)),
  ];
}
