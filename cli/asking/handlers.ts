/**
 * Who answers servers in a run of the command line: the answers file first, then the person at the terminal; without
 * either, elicitations are cancelled and it is said what would have answered them. Elicitation is always
 * advertised, as it is when compiling, so that the tools are the same. Sampling and roots are advertised
 * only when the answers file has them: there is no model here, and servers give up folders they were started for
 * when they are told of roots (server-filesystem replaces those of its command line), which nobody asked for.
 */
import type { ClientHandlers, QuestionContext, QuestionHandler } from "../../runtime/client-features.ts";
import { type Question, questionText } from "../../runtime/questions.ts";
import { type Diagnostic, diagnostic } from "../../schemas/diagnostic.ts";
import type { Answers } from "../answers-file.ts";
import type { Io } from "../io.ts";
import type { TerminalElicitation } from "./terminal.ts";

export interface Answering {
  readonly handlers: ClientHandlers;
  /** What is to be said at the end of the run: answers that nobody asked for. */
  remarks(): readonly Diagnostic[];
}

export type AnsweringOutcome =
  | { readonly ok: true; readonly answering: Answering; readonly diagnostics: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** `answers` is the value of `--answers`. Fails when that file can't be used. `tell` takes what concerns a question. */
export async function answering(
  answers: string | undefined,
  io: Io,
  tell: (notice: Diagnostic) => void,
): Promise<AnsweringOutcome> {
  if (answers === undefined) return { ok: true, answering: answeringWith(undefined, io, tell), diagnostics: [] };
  const { readAnswersFile } = await import("../answers-file.ts");
  const read = await readAnswersFile(answers, io.cwd);
  if (read.answers === undefined) return { ok: false, diagnostics: read.diagnostics };
  return { ok: true, answering: answeringWith(read.answers, io, tell), diagnostics: read.diagnostics };
}

function answeringWith(answers: Answers | undefined, io: Io, tell: (notice: Diagnostic) => void): Answering {
  const nobody: QuestionHandler = async (params, context) => {
    tell(unanswered("elicitation/create", params, context, answers !== undefined));
    return { action: "cancel" };
  };
  let found: Promise<TerminalElicitation> | undefined;
  const person = async () => {
    const { terminal, errLook } = io;
    if (terminal === undefined) return undefined;
    found ??= import("./terminal.ts").then((module) => module.terminalElicitation({ ...terminal, look: errLook }));
    return found;
  };
  const elicitation =
    (mode: "form" | "url"): QuestionHandler =>
    async (params, context) =>
      (await answers?.elicitation(params, context)) ?? ((await person())?.[mode] ?? nobody)(params, context);
  return {
    handlers: {
      elicitation: {
        form: elicitation("form"),
        url: elicitation("url"),
        completed: (elicitationId, server) => void person().then((one) => one?.completed(elicitationId, server)),
      },
      ...(answers?.hasSampling && { sampling: samplingFrom(answers) }),
      ...(answers?.roots && { roots: async () => answers.roots! }),
    },
    remarks: () => answers?.unused() ?? [],
  };
}

function samplingFrom(answers: Answers): QuestionHandler {
  return async (params, context) => {
    const answer = answers.sampling(params, context);
    if (answer === undefined) throw new Error("the answers file has no answer left for it");
    return answer;
  };
}

function unanswered(
  method: Question["method"],
  params: Readonly<Record<string, unknown>>,
  { server, tool }: QuestionContext,
  hasFile: boolean,
): Diagnostic {
  const who = `server "${server}"${tool === undefined ? "" : ` (tool ${tool})`}`;
  const message = `${who} asked for ${questionText({ method, params })}; nobody was there to answer, so it was cancelled`;
  const remedy = hasFile
    ? "no answer of the file fits; run it in a terminal, or add one"
    : "run it in a terminal, or give the answer with --answers FILE";
  return diagnostic("question-unanswered", message, { server, tool, notes: [remedy] });
}
