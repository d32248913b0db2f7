// A provider whose model does what the prompt says, the same in every session of a process: a prompt that is
// `{"call":[name, arguments]}` is answered by that call, any other by a word. And commands for what only extensions can have Pi do.
import { appendFileSync } from "node:fs";
import { fauxAssistantMessage, fauxProvider, fauxText, fauxToolCall } from "@earendil-works/pi-ai";

const MOST_REQUESTS = 100;

export default function obedient(pi) {
  const faux = fauxProvider({ provider: "obedient", models: [{ id: "one", name: "one" }] });
  const answer = (context) => {
    appendFileSync(process.env.SCRIPTED_REQUESTS, `${JSON.stringify({ at: Date.now(), context })}\n`);
    const asked = callIn(context.messages.at(-1));
    if (asked === undefined) return fauxAssistantMessage([fauxText("done")]);
    return fauxAssistantMessage([fauxToolCall(...asked)], { stopReason: "toolUse" });
  };
  faux.setResponses(Array.from({ length: MOST_REQUESTS }, () => answer));
  pi.registerProvider(faux.provider);
  pi.registerCommand("again", { description: "Reloads", handler: (_args, ctx) => ctx.reload() });
  pi.registerCommand("go-to", {
    description: "Goes to an entry of the session's tree",
    handler: (args, ctx) => ctx.navigateTree(args.trim()),
  });
}

function callIn(message) {
  if (message?.role !== "user") return undefined;
  const text = typeof message.content === "string" ? message.content : message.content.map((one) => one.text).join("");
  return text.startsWith("{") ? JSON.parse(text).call : undefined;
}
