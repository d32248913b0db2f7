/**
 * What scripts hand to `models.classify()` and `models.generateImages()`, looked at before a provider gets it: what is missing or wrong
 * is said with the shape that is wanted, at no cost.
 */
import type { ExtensionToolContext } from "@earendil-works/pi-coding-agent";
import { isRecord } from "../../../schemas/record.ts";

type Registry = ExtensionToolContext["modelRegistry"];
type ClassifierContext = Parameters<Registry["classify"]>[1];
type ImagesContext = Parameters<Registry["generateImages"]>[1];

const CLASSIFY =
  '{ state: { … }, questions: { id: { type: "choice", instructions, criteria: { label: meaning } } | { type: "score", instructions, criteria: [lowest, …, highest] } | { type: "bool", instructions, criteria: { true: meaning, false: meaning } } }, images?: [{ type: "image", data, mimeType }] }';
const IMAGES = '{ input: [{ type: "text", text } | { type: "image", data, mimeType }, …] }';

/** Throws TypeError naming what is wrong. */
export function classifierContext(context: unknown): ClassifierContext {
  const fail = (what: string) => new TypeError(`models.classify(model, context): ${what}. A context is ${CLASSIFY}`);
  if (!isRecord(context)) throw fail("context is an object");
  const { state, images, questions } = context;
  if (!isRecord(state)) throw fail("context.state is an object");
  if (images !== undefined && !(Array.isArray(images) && images.every(isImage))) {
    throw fail("context.images is a list of image blocks");
  }
  if (!isRecord(questions) || Object.keys(questions).length === 0)
    throw fail("context.questions has at least one question");
  for (const [id, question] of Object.entries(questions)) {
    const wrong = wrongWithQuestion(question);
    if (wrong !== undefined) throw fail(`context.questions.${id}: ${wrong}`);
  }
  return context as unknown as ClassifierContext;
}

/** Throws TypeError naming what is wrong. */
export function imagesContext(context: unknown): ImagesContext {
  const { input } = isRecord(context) ? context : {};
  const isBlock = (block: unknown) =>
    isImage(block) || (isRecord(block) && block["type"] === "text" && typeof block["text"] === "string");
  if (!Array.isArray(input) || input.length === 0 || !input.every(isBlock)) {
    throw new TypeError(
      `models.generateImages(model, context): context.input is a list of text and image blocks. A context is ${IMAGES}`,
    );
  }
  return context as unknown as ImagesContext;
}

function isImage(block: unknown): boolean {
  return (
    isRecord(block) &&
    block["type"] === "image" &&
    typeof block["data"] === "string" &&
    typeof block["mimeType"] === "string"
  );
}

function wrongWithQuestion(question: unknown): string | undefined {
  if (!isRecord(question)) return "a question is an object";
  const { type, instructions, criteria } = question;
  if (typeof instructions !== "string") return "instructions is a string";
  const meanings = isRecord(criteria) ? Object.values(criteria) : [];
  const areTexts = (values: readonly unknown[]) =>
    values.length > 0 && values.every((value) => typeof value === "string");
  switch (type) {
    case "choice":
      return areTexts(meanings) ? undefined : "criteria says for each label what it means";
    case "score":
      return Array.isArray(criteria) && areTexts(criteria) ? undefined : "criteria lists the levels, the lowest first";
    case "bool": {
      const { true: yes, false: no } = isRecord(criteria) ? criteria : {};
      return typeof yes === "string" && typeof no === "string" ? undefined : "criteria says what true and false mean";
    }
    default:
      return 'type is "choice", "score" or "bool"';
  }
}
