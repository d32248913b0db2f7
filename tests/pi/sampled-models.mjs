// Models that servers may be answered by, beside the scripted one: `eyes` (sees images, dear) and `words` (cheap). Each request
// is a line of the file SAMPLED. What the last message of the user says decides: `fail`, `slow` (until it is aborted), `cut`
// (by the token limit); else the answer is `<model> says STOP never`.
import { appendFileSync } from "node:fs";
import { fauxAssistantMessage, fauxProvider, fauxText, fauxThinking } from "@earendil-works/pi-ai";

const cost = (price) => ({ input: price, output: price, cacheRead: 0, cacheWrite: 0 });

export default function sampledModels(pi) {
  const models = [
    { id: "eyes", name: "Eyes 4.5", input: ["text", "image"], cost: cost(5), maxTokens: 100 },
    { id: "words", name: "Words mini", input: ["text"], cost: cost(1) },
  ];
  const faux = fauxProvider({ provider: "sampled", models });
  const answer = async (context, { maxTokens, temperature, signal }, _state, model) => {
    appendFileSync(process.env.SAMPLED, `${JSON.stringify({ model: model.id, maxTokens, temperature, context })}\n`);
    const { content } = context.messages.findLast(({ role }) => role === "user");
    const said = typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");
    if (said === "slow") await new Promise((resolve) => signal.addEventListener("abort", resolve));
    if (said === "fail") return fauxAssistantMessage([], { stopReason: "error", errorMessage: "quota used up" });
    const stopReason = said === "cut" ? "length" : "stop";
    return fauxAssistantMessage([fauxThinking("secret thoughts"), fauxText(`${model.id} says STOP never`)], {
      stopReason,
    });
  };
  faux.setResponses(Array(20).fill(answer));
  pi.registerProvider(faux.provider);
}
