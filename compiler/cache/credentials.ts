/**
 * The variables of this process that a server's process inherits and may know somebody by. A list that is `private` to
 * who asked must not be served to somebody else who asks from the same folder, and over stdio the environment
 * is all there is to tell them apart.
 */
import { isSecretName } from "../../schemas/config/secrets.ts";

/** Beside what any secret is called: where an account is, and whose it is. */
const ACCOUNT_NAME = /auth|credential|session|_dsn$|_url$|_uri$|profile$|^user$/i;
/** Change with every login or terminal, and say nothing of who a server would take us for. */
const PLACE_NAME = /^(?:SSH_AUTH_SOCK|SESSION_MANAGER|XDG_.*|DBUS_.*|.*_SESSION_ID|npm_.*)$/i;

/** The inherited variables that look like credentials, by name. For hashing with a key; never to be stored or shown. */
export function inheritedCredentials(env: NodeJS.ProcessEnv): Readonly<Record<string, string | undefined>> {
  const isOne = (name: string) => (isSecretName(name) || ACCOUNT_NAME.test(name)) && !PLACE_NAME.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => isOne(name)));
}
