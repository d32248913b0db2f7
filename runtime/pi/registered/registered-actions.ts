/**
 * What a person can do to a server that an extension registered: the changes hold for the session and are written nowhere,
 * as in Pi.
 */
import { type ActionOutcome, compileOutcome, failure } from "../servers/action-outcome.ts";
import type { ServerChange } from "../servers/server-change.ts";
import type { PiSession } from "../session.ts";
import type { RegisteredServer, RegistrationOverride } from "./registered-servers.ts";
import { compileRegistered, overrideRegistered } from "./sync-registered.ts";

export async function changeRegistered(
  session: PiSession,
  { config: { name }, source }: RegisteredServer,
  change: ServerChange,
  inProject: boolean,
): Promise<ActionOutcome> {
  const refused = (why: string) => failure(`"${name}" is registered by ${source}: ${why}`);
  if (inProject) return refused("it belongs to no project");
  const override = overrideOf(change);
  if (override === undefined) return refused("what it says of a tool comes back with the next session");
  await overrideRegistered(session, name, override);
  return { ok: true, text: `${said(name, change)} for this session; it is registered by ${source}` };
}

/** Asks the server anew; `text` is what has been done already. */
export async function compileOwn(session: PiSession, name: string, text: string | undefined): Promise<ActionOutcome> {
  const report = await compileRegistered(session, name);
  return compileOutcome(name, text, report?.problems ?? [`"${name}" is disabled`]);
}

/** Undefined for what can't be undone: the extension's own word is not known here. */
function overrideOf(change: ServerChange): RegistrationOverride | undefined {
  if (change.kind === "enabled") return { enabled: change.enabled };
  if (change.kind === "exposure") return { exposure: change.exposure };
  return change.exposure === "inherit" ? undefined : { toolExposure: { [change.tool]: change.exposure } };
}

function said(name: string, change: ServerChange): string {
  if (change.kind === "enabled") return `"${name}" is ${change.enabled ? "enabled" : "disabled"}`;
  if (change.kind === "exposure") return `"${name}" has exposure ${change.exposure}`;
  return `${change.tool} of "${name}" has exposure ${change.exposure}`;
}
