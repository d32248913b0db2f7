/**
 * `models` as scripts see it, in TypeScript, for checking them. Follows Pi's docs/codemode.md and leaves open what later versions
 * may add: a script that is right must never be refused.
 */
export const MODELS_DECLARATION = `
interface ModelInfo {
  type?: "chat" | "image" | "classifier"; provider: string; id: string; name: string; api: string;
  input: ("text" | "image")[]; contextWindow?: number; [key: string]: any;
}
interface ModelAnswer {
  provider: string; model: string; usage?: any; stopReason: "stop" | "error" | "aborted"; errorMessage?: string;
  [key: string]: any;
}
declare const models: {
  getModelsOfType(type: string, provider?: string): Promise<ModelInfo[]>;
  getAvailableOfType(type: string, provider?: string): Promise<ModelInfo[]>;
  getModelOfType(type: string, provider: string, id: string): Promise<ModelInfo>;
  classify(
    model: { provider: string; id: string; [key: string]: any },
    context: { state: any; images?: any; questions: { [id: string]: any }; [key: string]: any },
  ): Promise<ModelAnswer & { answers: { [id: string]: any } }>;
  generateImages(
    model: { provider: string; id: string; [key: string]: any },
    context: { input: any; [key: string]: any },
  ): Promise<ModelAnswer & { output: any[] }>;
};
`;
