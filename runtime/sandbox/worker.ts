/**
 * The worker's thread: waits for the engine, keeps one VM ready, and gives each script a VM of its own. It holds nothing of a
 * script once that has ended, and knows nothing of tools or files.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { FromWorker, Question, ToWorker, WorkerData } from "./protocol.ts";
import { ScriptVm, type VmPort } from "./vm.ts";
import { decodeImage, makeImage, type VmImage } from "./vm-image.ts";

/** A VM that grew past this leaves its thread with memory to give back: a new thread is the sure way. */
const SPENT_BYTES = 64 * 1024 * 1024;
const SPENT_RUNS = 256;

const port = parentPort!;
const { answers, answered } = workerData as WorkerData;
let wasmModule: object | undefined;
let image: VmImage | undefined;
let vm: ScriptVm | undefined;
let runs = 0;

const post = (message: FromWorker) => port.postMessage(message);

const vmPort: VmPort = {
  send: (output, calls) => post({ type: "batch", output, calls }),
  ask(question: Question) {
    Atomics.store(answered, 0, 0);
    post({ type: "ask", question });
    Atomics.wait(answered, 0, 0);
    return receiveMessageOnPort(answers as MessagePort)!.message as string;
  },
  end: (ending, unmade) => post({ type: "done", ending, unmade }),
};

async function prepare(): Promise<void> {
  vm = await ScriptVm.prepare(wasmModule!, image!, vmPort);
}

/** After a script has ended: says whether the next one may come, then makes its VM. */
async function replace(): Promise<void> {
  runs++;
  const spent = vm!.memoryBytes() > SPENT_BYTES || runs >= SPENT_RUNS;
  vm = undefined;
  if (!spent) await prepare();
  post({ type: "idle", spent });
}

port.on("message", async (message: ToWorker) => {
  if (message.type === "engine") {
    wasmModule = message.module;
    image = message.image ? decodeImage(message.image) : await makeImage(wasmModule);
    await prepare();
    return post({ type: "idle", spent: false });
  }
  if (vm === undefined || vm.ended) return;
  if (message.type === "run") vm.run(message);
  else vm.settle(message.results);
  if (vm.ended) await replace();
});
