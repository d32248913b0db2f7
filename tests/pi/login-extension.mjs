// A provider `acme` with an account: it renews an expired login by adding one to the number at the end of its token.
export default function acme(pi) {
  const renewed = ({ access }) => access.replace(/\d+$/, (count) => String(Number(count) + 1));
  pi.registerProvider("acme", {
    name: "Acme",
    baseUrl: "https://acme.test",
    api: "openai-completions",
    models: [
      {
        id: "one",
        name: "One",
        reasoning: false,
        input: ["text"],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 1000,
        maxTokens: 100,
      },
    ],
    oauth: {
      name: "Acme",
      login: async () => ({ access: "none", refresh: "r", expires: 0 }),
      refreshToken: async (credentials) => ({
        ...credentials,
        access: renewed(credentials),
        expires: Date.now() + 3_600_000,
      }),
      getApiKey: ({ access }) => access,
    },
  });
}
