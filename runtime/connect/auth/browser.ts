/**
 * Opens an address in the person's browser, where there is one to open. Only `http:` and `https:` addresses: what opens
 * them starts programs for others. That nothing opens is no failure, because the address is shown as well.
 */

/** Whether a program was started to open `url`. */
export async function openInBrowser(url: URL, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (!/^https?:$/.test(url.protocol) || !hasBrowser(env)) return false;
  try {
    await startBrowser(url.href);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) return false;
    throw error;
  }
}

/** Rejects when it can't be tried. `open` is loaded with the first address. */
export async function startBrowser(href: string): Promise<void> {
  const { default: open } = await import("open");
  const opener = await open(href);
  // It may still fail to find a browser; an error without a listener would end this process.
  opener.on("error", () => {});
}

/** On Linux and the like a desktop, or a browser of the person's choice. */
function hasBrowser(env: NodeJS.ProcessEnv): boolean {
  if (process.platform === "darwin" || process.platform === "win32") return true;
  return ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].some((name) => Boolean(env[name]));
}
