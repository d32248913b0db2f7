/**
 * From `session_start` to a session: is the project to be used, then the artifacts, then what servers may ask. Until Pi has said
 * whether the project is trusted nothing of it is read.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Diagnostic } from "../../schemas/diagnostic.ts";
import type { ClientHandlers } from "../client-features.ts";
import { builtInNotice } from "./built-in-mcp.ts";
import type { PiHost } from "./host.ts";
import { type Loadout, locateFiles, openLoadout } from "./loadout.ts";
import { type RegistrationOverride, registrations } from "./registered/registered-servers.ts";
import { ArtifactSession, type Register } from "./session.ts";
import { piTrust } from "./trust/pi-trust.ts";
import { projectTrust } from "./trust/project-trust.ts";

export interface OpenOptions {
  readonly pi: ExtensionAPI;
  readonly ctx: ExtensionContext;
  readonly host: PiHost;
  readonly register: Register;
  /** What servers may ask of the user and of models; asked for with the first call. */
  readonly handlers?: (() => ClientHandlers | undefined) | undefined;
}

export async function openSession(options: OpenOptions): Promise<ArtifactSession> {
  const { pi, ctx, host, register, handlers } = options;
  const files = await locateFiles(ctx.cwd);
  const decisions = piTrust(pi, host, files);
  const trust = await projectTrust(files, ctx, decisions);
  const early: Diagnostic[] = [];
  const overrides = new Map<string, RegistrationOverride>();
  let listener = (notice: Diagnostic): void => void early.push(notice);
  const open = (): Promise<Loadout> =>
    openLoadout({
      cwd: ctx.cwd,
      // In a folder that had nothing of ours the user may have decided since, with the first change that made a file there.
      project: trust.trusted || (ctx.isProjectTrusted() && decisions.saved(files.projectDir) === true),
      handlers: () => handlers?.(),
      providerToken: (provider) => ctx.modelRegistry.getApiKeyForProvider(provider),
      onNotice: (notice) => listener(notice),
      registrations: (place) => registrations(pi, place, overrides),
    });
  const loadout = await open();
  const session = new ArtifactSession({
    pi,
    ctx,
    loadout,
    notices: early,
    register,
    reopen: open,
    registrationOverrides: overrides,
  });
  listener = (notice) => session.notice(notice);
  if (!trust.trusted && trust.notice !== undefined) session.tell(trust.notice, "warning");
  const aboutBuiltIn = builtInNotice(pi.getSettings().extensions, process);
  if (aboutBuiltIn !== undefined) session.tell(aboutBuiltIn, "info");
  return session;
}
