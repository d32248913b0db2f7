/**
 * What a sign-in needs of a person: somewhere to be redirected to, and a browser. The flow itself (`sign-in.ts`) knows
 * neither; the command line gives it a loopback server and a browser, a test one that follows redirects.
 */

/** Where the redirect URI of a sign-in is to be. */
export interface CallbackRequest {
  readonly server: string;
  /** The redirect URI as configured (`oauth.callbackUrl`, exactly as written), else `http://127.0.0.1/callback`. */
  readonly url: string;
  /** The port it must have: configured, in the URL or by itself. */
  readonly port?: number | undefined;
  /** The port it should have if it is free: that of the client registered earlier. */
  readonly preferredPort?: number | undefined;
  /** Paths that an answer may come to, that of `url` first; some servers get one of their own. */
  readonly paths: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export interface ExpectedAnswer {
  /** The `state` the answer must carry. One with another is somebody else's and ends nothing. */
  readonly state: string;
  /** The redirect URI in the authorization request: its path is the one the answer must come to. */
  readonly redirectUrl: string;
  readonly signal?: AbortSignal | undefined;
}

export interface Callback {
  /** The redirect URI, with its port. */
  readonly redirectUrl: string;
  /**
   * Sends the person to `url` and resolves with the whole URL that the browser was sent back to, an error in it or not: it
   * is read, and its `state` and `iss` checked, by the flow. Rejects when nobody completes it.
   */
  authorize(url: URL, expected: ExpectedAnswer): Promise<URL>;
  close(): Promise<void>;
}

export interface Interactive {
  /** Gets ready to take the answer of one sign-in. Rejects when it can't, as when a port that must be is in use. */
  open(request: CallbackRequest): Promise<Callback>;
}
