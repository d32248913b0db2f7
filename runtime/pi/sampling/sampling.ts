/**
 * A server wants a model's answer (`sampling/createMessage`). Nothing goes to a model before the user has seen who asks, what
 * and which model is to answer, and nothing goes back before the user has seen the answer. Runs through the session's own
 * models and credentials. A model's failure is told here and never to the server.
 */
import type { AssistantMessage, Model } from "@earendil-works/pi-ai";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { QuestionContext } from "../../client-features.ts";
import { DeclinedError } from "../../errors.ts";
import type { Choice, Dialogs } from "../dialogs/dialog-queue.ts";
import { below, quoted, quotedLines, shortName, whoAsks } from "../dialogs/dialog-text.ts";
import type { PiSession } from "../session.ts";
import { shortLine, terminalLine } from "../terminal-text.ts";
import { isSame, modelName, proposeModel } from "./sampling-model.ts";
import { contextFor, readSamplingRequest, resultOf, type SamplingRequest } from "./sampling-request.ts";

type AnyModel = Model<string>;
type Params = Readonly<Record<string, unknown>>;

const STATUS_KEY = "pimcp-sampling";
/** Lines of each message in the dialog, and messages. */
const PREVIEW_LINES = 4;
const PREVIEW_MESSAGES = 3;
/** Lines of a page where all of it is read. */
const PAGE_LINES = 15;

/** Rejects with `DeclinedError` where the user says no, and with the reason where no model can answer. */
export async function sample(
  session: Pick<PiSession, "ctx" | "dialogs" | "signal">,
  params: Params,
  context: QuestionContext,
): Promise<Record<string, unknown>> {
  const { ctx, dialogs } = session;
  const read = readSamplingRequest(params);
  if (!read.ok) throw new Error(read.reason);
  const { request } = read;
  const candidates = modelsFor(ctx, request);
  const proposed = proposeModel(params["modelPreferences"], candidates, ctx.model);
  if (proposed === undefined) {
    throw new Error(request.hasImages ? "no model here takes images" : "Pi has no model that could answer");
  }
  const signal = context.signal ? AbortSignal.any([context.signal, session.signal]) : session.signal;
  const withdrawn = `Server "${shortName(context.server)}" no longer waits for a model's answer.`;
  const turn = { signal, withdrawn };
  const ask = (shown: Dialogs) => approve(shown, { request, context, candidates, proposed });
  const isGiven = (model: AnyModel | undefined) => model !== undefined;
  const model = await dialogs.take(
    (shown) => dialogs.patience.hear(shown, context.server, () => ask(shown), isGiven),
    turn,
  );
  if (model === undefined) throw new DeclinedError();
  dialogs.status(STATUS_KEY, `${terminalLine(modelName(model))} answers MCP server ${shortName(context.server)}…`);
  const message = await complete(ctx, model, request, signal).finally(() => dialogs.status(STATUS_KEY, undefined));
  const result = resultOf(message, request);
  const heading = `${modelName(model)} answers server "${shortName(context.server)}":`;
  const isSent = await dialogs.take((shown) => release(shown, heading, result.content.text, message), turn);
  if (!isSent) throw new DeclinedError("the model's answer was not sent");
  return { ...result };
}

/** The models that the session is limited to, else all that can be used. */
function modelsFor(ctx: ExtensionContext, { hasImages }: SamplingRequest): readonly AnyModel[] {
  const scoped = ctx.scopedModels.map(({ model }) => model as AnyModel);
  const all = scoped.length > 0 ? scoped : (ctx.modelRegistry.getAvailable() as AnyModel[]);
  const { model } = ctx;
  const known = model === undefined || all.some((one) => isSame(one, model)) ? all : [model as AnyModel, ...all];
  return hasImages ? known.filter(({ input }) => input.includes("image")) : known;
}

interface Approval {
  readonly request: SamplingRequest;
  readonly context: QuestionContext;
  readonly candidates: readonly AnyModel[];
  readonly proposed: AnyModel;
}

/** The model that the user lets answer; undefined for none. */
async function approve(
  dialogs: Dialogs,
  { request, context, candidates, proposed }: Approval,
): Promise<AnyModel | undefined> {
  let model = proposed;
  for (;;) {
    const limit = request.maxTokens === undefined ? "" : `, at most ${tokensFor(request, model)} tokens`;
    const title = below(
      whoAsks("wants a model to answer", context),
      preview(request, dialogs.columns),
      `Model: ${terminalLine(modelName(model))}${limit}`,
    );
    // Enter alone, perhaps meant for the editor, must send nothing.
    const next = await dialogs.select(title, [
      { label: "Decline", value: "decline" },
      { label: `Let ${terminalLine(modelName(model))} answer`, value: "answer" },
      { label: "Read all of it", value: "read" },
      ...(candidates.length > 1 ? [{ label: "Another model", value: "other" }] : []),
    ]);
    if (next === "answer") return model;
    if (next === "read") await readThrough(dialogs, whoAsks("wants an answer to", context), wholeOf(request, dialogs));
    else if (next === "other") model = (await chooseModel(dialogs, candidates, model)) ?? model;
    else return undefined;
  }
}

async function chooseModel(dialogs: Dialogs, candidates: readonly AnyModel[], model: AnyModel) {
  const choices: Choice<AnyModel>[] = candidates.map((one) => ({ label: terminalLine(modelName(one)), value: one }));
  return dialogs.select(`Which model instead of ${terminalLine(modelName(model))}?`, choices);
}

/** Servers ask for more than there is; models refuse that. */
function tokensFor({ maxTokens }: SamplingRequest, model: AnyModel): number {
  return Math.min(maxTokens ?? model.maxTokens, model.maxTokens);
}

async function complete(
  ctx: ExtensionContext,
  model: AnyModel,
  request: SamplingRequest,
  signal: AbortSignal,
): Promise<AssistantMessage> {
  signal.throwIfAborted();
  const stream = ctx.modelRegistry.streamSimple(model, contextFor(request, model, Date.now()), {
    signal,
    maxTokens: tokensFor(request, model),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
  });
  const message = await stream.result();
  signal.throwIfAborted();
  if (message.stopReason === "stop" || message.stopReason === "length") return message;
  const why = message.errorMessage ?? `it ended with "${message.stopReason}"`;
  throw new Error(`${modelName(model)} gave no answer: ${shortLine(why, 300)}`);
}

/** Whether the user lets the answer go to the server. */
async function release(dialogs: Dialogs, heading: string, text: string, message: AssistantMessage): Promise<boolean> {
  const title = below(
    terminalLine(heading),
    quoted(text === "" ? "(nothing)" : text, dialogs.columns),
    usageText(message),
  );
  for (;;) {
    const next = await dialogs.select(title, [
      { label: "Don't send it", value: "decline" },
      { label: "Send it to the server", value: "send" },
      { label: "Read all of it", value: "read" },
    ]);
    if (next !== "read") return next === "send";
    await readThrough(dialogs, terminalLine(heading), quotedLines(text, dialogs.columns));
  }
}

function usageText({ usage }: AssistantMessage): string {
  const cost = usage.cost.total > 0 ? `, $${usage.cost.total.toFixed(4)}` : "";
  return `${usage.input + usage.cacheRead + usage.cacheWrite} tokens in, ${usage.output} out${cost}`;
}

function preview({ systemPrompt, messages }: SamplingRequest, columns: number): string {
  const left = messages.length - PREVIEW_MESSAGES;
  return below(
    systemPrompt === undefined ? undefined : below("system:", quoted(systemPrompt, columns, PREVIEW_LINES)),
    left > 0 ? `(${left} earlier ${left === 1 ? "message" : "messages"})` : undefined,
    ...messages
      .slice(-PREVIEW_MESSAGES)
      .map((message) => below(`${message.role}:`, quoted(textOf(message), columns, PREVIEW_LINES))),
  );
}

/** Only what the server says has a bar, so that no message can pass for two. */
function wholeOf({ systemPrompt, messages }: SamplingRequest, { columns }: Dialogs): string[] {
  return [
    ...(systemPrompt === undefined ? [] : ["system:", ...quotedLines(systemPrompt, columns)]),
    ...messages.flatMap((message) => [`${message.role}:`, ...quotedLines(textOf(message), columns)]),
  ];
}

function textOf({ content }: SamplingRequest["messages"][number]): string {
  return content
    .map((block) =>
      block.type === "text"
        ? block.text
        : `[${block.mimeType} image, ${Math.ceil((block.data.length * 3) / 4 / 1024)} kB]`,
    )
    .join("\n");
}

async function readThrough(dialogs: Dialogs, heading: string, lines: readonly string[]): Promise<void> {
  for (let start = 0; start < lines.length; ) {
    const page = below(heading, ...lines.slice(start, start + PAGE_LINES));
    const isLast = start + PAGE_LINES >= lines.length;
    const next = await dialogs.select(page, [
      ...(isLast ? [] : [{ label: `Go on (${lines.length - start - PAGE_LINES} lines more)`, value: "on" }]),
      { label: "Back", value: "back" },
    ]);
    if (next !== "on") return;
    start += PAGE_LINES;
  }
}
