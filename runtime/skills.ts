/**
 * Skills of servers (SEP-2640, `io.modelcontextprotocol/skills`): what a server lists, and the files of one, each checked against
 * the entry before anyone sees it: its size, its digest, and for `SKILL.md` every field of its frontmatter. Listing reads
 * no file. A file that doesn't fit its entry is an error and never content. A server that is hidden by its own
 * `exposure` is out of reach here too.
 *
 * The checks are the SDK's; it is imported with the first skill that is asked for.
 */
import type { SkillsClient as SdkSkills } from "@modelcontextprotocol/client/ext/skills";
import type { Connection } from "./connect/connection.ts";
import { printableLine } from "./connect/redact.ts";
import type { Connections } from "./connections.ts";
import { RefusedError, ServerError } from "./errors.ts";
import type { Gate } from "./gate.ts";
import type { ReadOptions } from "./resources.ts";

export interface Skill {
  /** Of its `SKILL.md`. */
  uri: string;
  frontmatter: { name: string; description: string; [key: string]: unknown };
  /** Its files, `SKILL.md` among them; `dynamic` where they can't be told beforehand. `size` in bytes, `digest` as `sha256:<hex>`. */
  resources: { uri: string; digest: string; size: number; [key: string]: unknown }[] | "dynamic";
  [key: string]: unknown;
}

export interface SkillFile {
  uri: string;
  mimeType?: string;
  bytes: Uint8Array;
  /** Where the server sent text. */
  text?: string;
  /** Size and digest fit; false only for files of `dynamic` skills, which list none. */
  verified: boolean;
  /** Of the skill's own `SKILL.md`, with what follows it as `body`. */
  frontmatter?: Record<string, unknown>;
  body?: string;
}

export interface SkillList {
  readonly skills: readonly Skill[];
  /** Entries that no skill can be read by, and why; the others are as good as without them. */
  readonly invalid: readonly { readonly uri?: string; readonly reason: string }[];
}

export class Skills {
  readonly #gate: Gate;
  readonly #connections: Connections;

  constructor(gate: Gate, connections: Connections) {
    this.#gate = gate;
    this.#connections = connections;
  }

  /** Every page. Rejects with `RefusedError` for a server that is unknown or has no skills, and with `ServerError` otherwise. */
  list(server: string, options?: ReadOptions): Promise<SkillList> {
    return this.#with(server, "skills/list", options, async (skills, limits) => {
      const { skills: listed, invalid } = await skills.list({}, limits);
      return { skills: listed as Skill[], invalid };
    });
  }

  /**
   * One file of a skill that was listed: `SKILL.md`, or what `file` names by its path in the skill or its URI. Rejects
   * with `ServerError` when what the server sends is not what it listed.
   */
  read(server: string, skill: Skill, file?: string, options?: ReadOptions): Promise<SkillFile> {
    return this.#with(server, "resources/read", options, (skills, limits) => skills.read(skill, file, limits));
  }

  async #with<T>(
    server: string,
    method: string,
    { signal, timeoutMs }: ReadOptions = {},
    ask: (skills: SdkSkills, limits: { signal?: AbortSignal; timeout?: number }) => Promise<T>,
  ): Promise<T> {
    this.#gate.contents(server, method);
    const connection = await this.#connections.get(server, signal);
    const { SkillsClient, SkillVerificationError } = await import("@modelcontextprotocol/client/ext/skills");
    const skills = new SkillsClient(connection.client, { skipInvalid: true });
    if (!skills.supported) {
      throw new RefusedError(`server "${server}" has no skills`, { server, tool: method, reason: "not-offered" });
    }
    try {
      return await ask(skills, { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeout: timeoutMs }) });
    } catch (error) {
      const said = saidBy(error, connection);
      const what = error instanceof SkillVerificationError ? "a skill is not what was listed" : `${method} failed`;
      throw new ServerError(`server "${server}": ${what}: ${said}`, { server, cause: error });
    }
  }
}

function saidBy(error: unknown, connection: Connection): string {
  const message = error instanceof Error ? error.message : String(error);
  return printableLine(connection.redact(message).value, 500);
}
