// A provider whose answers are written in a file: one entry for each request, `{ text }` or `{ call: [name, arguments] }`.
// Every request is appended to another file as the provider saw it.
import { appendFileSync, readFileSync } from "node:fs";
import { fauxAssistantMessage, fauxProvider, fauxText, fauxToolCall } from "@earendil-works/pi-ai";

const script = JSON.parse(readFileSync(process.env.SCRIPTED_ANSWERS, "utf8"));
const requests = process.env.SCRIPTED_REQUESTS;

export default function scripted(pi) {
  const faux = fauxProvider({ provider: "scripted", models: [{ id: "one", name: "one" }] });
  faux.setResponses(
    script.map((answer) => (context) => {
      appendFileSync(requests, `${JSON.stringify({ at: Date.now(), context })}\n`);
      const calls = answer.calls ?? (answer.call ? [answer.call] : []);
      if (calls.length === 0) return fauxAssistantMessage([fauxText(answer.text ?? "done")]);
      const content = calls.map(([name, args]) => fauxToolCall(name, args));
      return fauxAssistantMessage(content, { stopReason: "toolUse" });
    }),
  );
  pi.registerProvider(faux.provider);
}
