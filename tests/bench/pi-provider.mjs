// An extension of Pi for the benchmark: a model that gives the answers written in PI_BENCH_ANSWERS, `{ text }` or
// `{ call: [name, arguments] }`, and that appends to PI_BENCH_LOG when each request came, what it had cost Pi's own process,
// which processes there were by then and how much memory they all used.
import { appendFileSync } from "node:fs";
import { fauxAssistantMessage, fauxProvider, fauxText, fauxToolCall } from "@earendil-works/pi-ai";
import { processTree } from "./process-tree.mjs";

const answers = JSON.parse(process.env.PI_BENCH_ANSWERS);
const log = process.env.PI_BENCH_LOG;

export default function provider(pi) {
  const faux = fauxProvider({ provider: "scripted", models: [{ id: "one", name: "one" }] });
  faux.setResponses(
    answers.map(({ text, call }) => (context) => {
      const at = Date.now();
      const { user, system } = process.cpuUsage();
      const last = context.messages.at(-1);
      const result = last?.role === "toolResult" ? JSON.stringify(last.content).slice(0, 2000) : undefined;
      appendFileSync(
        log,
        `${JSON.stringify({ at, cpuMs: (user + system) / 1000, ...processTree(process.pid), result })}\n`,
      );
      if (call === undefined) return fauxAssistantMessage([fauxText(text)]);
      return fauxAssistantMessage([fauxToolCall(...call)], { stopReason: "toolUse" });
    }),
  );
  pi.registerProvider(faux.provider);
}
