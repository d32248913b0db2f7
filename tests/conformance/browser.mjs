// The browser of a person who agrees to whatever is asked: it follows the sign-in's address to where that ends, which is
// pimcp's own loopback server.

/** `inBrowser` is pimcp's: a person who signs in is invited, and the loopback server takes the answer. */
export function agreeingPerson(inBrowser, env) {
  return inBrowser({
    env,
    openBrowser: false,
    timeoutMs: 15_000,
    invite: ({ url }) => {
      console.error(`sign in at ${url.origin}${url.pathname}`);
      fetch(url).then(
        (page) => page.body?.cancel(),
        (error) => console.error(`the browser can't open the page: ${error.cause ?? error}`),
      );
    },
  });
}
