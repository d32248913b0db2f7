/**
 * From a start of Pi to a session. Artifacts are loaded as soon as Pi loads the extension, the project's among them only
 * where it is known by then that the project is trusted; what turns out differently on `session_start` is loaded anew.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { ToolTable } from "../../schemas/artifacts/tool-table.ts";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import type { ClientHandlers } from "../client-features.ts";
import { type Loadout, locateFiles, openLoadout } from "./loadout.ts";
import { isKnownTrusted, type PiTrust, projectTrust } from "./project-trust.ts";
import type { PiTui } from "./renderers.ts";
import { ArtifactSession } from "./session.ts";

/** What only Pi can give: its own copies of modules, its folders, its trust. */
export interface PiHost {
  readonly tui: PiTui;
  readonly trust: PiTrust;
  /** Absolute. */
  readonly agentDir: string;
  /** What servers may ask of the user and of models, in the session there is then. */
  readonly handlers?: () => ClientHandlers | undefined;
}

/** A loadout whose notices wait for somebody who can be told. */
export interface Preloaded {
  readonly loadout: Loadout;
  readonly notices: Diagnostic[];
  /** Takes notices from now on. */
  listener: ((notice: Diagnostic) => void) | undefined;
}

export async function preload(host: PiHost): Promise<Preloaded> {
  const cwd = process.cwd();
  const files = await locateFiles({ cwd, agentDir: host.agentDir });
  return load(host, cwd, isKnownTrusted(files, host.trust));
}

export interface OpenOptions {
  readonly pi: ExtensionAPI;
  readonly ctx: ExtensionContext;
  readonly host: PiHost;
  readonly early: Preloaded | undefined;
  readonly register: (table: ToolTable) => readonly string[];
}

export async function openSession(options: OpenOptions): Promise<ArtifactSession> {
  const { pi, ctx, host, early, register } = options;
  const trust = await projectTrust(await locateFiles({ cwd: ctx.cwd, agentDir: host.agentDir }), ctx, host.trust);
  const isRight = early?.loadout.cwd === ctx.cwd && early.loadout.project === trust.trusted;
  if (early && !isRight) await early.loadout.runtime.close();
  const loaded = early && isRight ? early : await load(host, ctx.cwd, trust.trusted);
  const session = new ArtifactSession({
    pi,
    ctx,
    loadout: loaded.loadout,
    notices: loaded.notices,
    register,
    reopen: async () => {
      const again = await load(host, ctx.cwd, trust.trusted);
      for (const notice of again.notices) session.notice(notice);
      again.listener = (notice) => session.notice(notice);
      return again.loadout;
    },
  });
  loaded.listener = (notice) => session.notice(notice);
  if (!trust.trusted && trust.notice !== undefined) session.tell(trust.notice, "warning");
  return session;
}

async function load(host: PiHost, cwd: string, project: boolean): Promise<Preloaded> {
  const notices: Diagnostic[] = [];
  const onNotice = (notice: Diagnostic) => {
    if (preloaded.listener) preloaded.listener(notice);
    else notices.push(notice);
  };
  const preloaded: { loadout?: Loadout; notices: Diagnostic[]; listener: Preloaded["listener"] } = {
    notices,
    listener: undefined,
  };
  const { agentDir, handlers } = host;
  const loadout = await openLoadout({ cwd, agentDir, project, onNotice, handlers: () => handlers?.() });
  return Object.assign(preloaded, { loadout });
}
