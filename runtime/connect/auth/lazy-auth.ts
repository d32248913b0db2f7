/** `createAuth`, loaded with the first HTTP server: who uses none pays nothing for signing in. */
import type { Auth, AuthOptions } from "./create-auth.ts";

export function lazyAuth(options: AuthOptions): Auth {
  let auth: Promise<Auth> | undefined;
  const load = async () => {
    const { createAuth } = await import("./create-auth.ts");
    return createAuth(options);
  };
  return Object.assign(
    async (...args: Parameters<Auth>) => {
      auth ??= load();
      return (await auth)(...args);
    },
    { settled: async () => (await auth)?.settled() },
  );
}
