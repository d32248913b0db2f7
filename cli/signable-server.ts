/** Finds the server that `login` and `logout` are about, by the configuration of this invocation. */
import { findSignable, type SignableServer } from "../runtime/connect/auth/signable-server.ts";
import { locateConfiguration } from "../runtime/connect/configuration-files.ts";
import type { Invocation } from "./commands.ts";
import { configurationOptions } from "./compile-command.ts";
import type { Io } from "./io.ts";

export async function findSignableServer(invocation: Invocation, io: Io): Promise<SignableServer> {
  const files = await locateConfiguration(configurationOptions(invocation, io));
  return findSignable(files, invocation.operands[0]!, io);
}
