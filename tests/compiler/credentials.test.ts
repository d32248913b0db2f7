import { expect, test } from "vitest";
import { inheritedCredentials } from "../../compiler/cache/credentials.ts";

test("variables that a server may know somebody by are told from those of a place", () => {
  const credentials = {
    MY_TOKEN: "a",
    GH_PAT: "b",
    AWS_PROFILE: "c",
    DATABASE_URL: "d",
    OPENAI_API_KEY: "e",
    AWS_SECRET_ACCESS_KEY: "f",
    USER: "g",
  };
  const place = { SSH_AUTH_SOCK: "x", XDG_SESSION_ID: "1", TERM_SESSION_ID: "2", PATH: "/bin", PWD: "/w", SHLVL: "1" };
  expect(inheritedCredentials({ ...credentials, ...place })).toEqual(credentials);
});
