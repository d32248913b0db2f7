/**
 * A filled-in prompt as the message that a user sends: its texts in their order, then its images. Resources in it are within
 * the output limit of their server; the prompt's own words are whole. A prompt that plays several parts says whose each is.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { repairResult } from "../../calls/result-shape.ts";
import { type BlockContext, renderBlocks } from "../../limits/blocks.ts";
import { limitOutput } from "../../limits/result.ts";
import type { PromptResult } from "../../resources.ts";
import { messageText } from "../terminal-text.ts";

export interface PromptContext extends BlockContext {
  /** Bytes of text for each resource. */
  readonly maxBytes: number;
}

/** What a user's message is made of. */
export type UserContent = Exclude<Parameters<ExtensionAPI["sendUserMessage"]>[0], string>;

/** Empty where the prompt has nothing to say. */
export async function promptContent(
  { messages }: Pick<PromptResult, "messages">,
  context: PromptContext,
): Promise<UserContent> {
  const texts: string[] = [];
  const images: UserContent = [];
  const parts = messages.map(({ role, content }) => ({
    speaker: role === "assistant" ? "assistant" : "user",
    content: repairResult({ content: [content] }).result.content,
  }));
  const isDialogue = parts.some(({ speaker }) => speaker === "assistant");
  for (const { speaker, content } of parts) {
    for (const [index, block] of (await renderBlocks({ content }, context)).entries()) {
      if (block.type === "image") images.push({ ...block });
      else {
        const text = content[index]?.type === "text" ? block.text : (await limitOutput(block.text, context)).text;
        texts.push(isDialogue ? `[${speaker}]\n${text}` : text);
      }
    }
  }
  // Pi draws what a user says as it is.
  const text = messageText(texts.join("\n\n"));
  return [...(text === "" ? [] : [{ type: "text" as const, text }]), ...images];
}
