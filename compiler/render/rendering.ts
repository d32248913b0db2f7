/**
 * Where a rendering is and what it has cost so far: the state that the functions of one rendering share. It knows how to
 * go a level deeper and how to give something up; what a schema means is not its business.
 */
import type { PropertyComments } from "./property-comment.ts";
import type { Cut, Detail } from "./schema-type.ts";

export class Rendering {
  readonly detail: Detail;
  readonly comments: PropertyComments;
  /** The type of what a schema says nothing about. */
  readonly anything: string;
  readonly cut = new Set<Cut>();
  /** The members of the union a schema stands for. */
  readonly alternatives: (schema: unknown) => readonly string[];
  /** Characters written so far, roughly; the exact count is taken at the end. */
  spent = 0;
  indent = 0;
  /** Objects around this place. */
  objects = 0;
  /** Objects, arrays and maps around this place. */
  nesting = 0;
  /** Schemas passed since the last of those: a longer chain of references leads nowhere. */
  chain = 0;

  constructor(detail: Detail, comments: PropertyComments, alternatives: Rendering["alternatives"]) {
    this.detail = detail;
    this.comments = comments;
    this.alternatives = alternatives;
    this.anything = detail.check ? "any" : "unknown";
  }

  /** Runs `body` one level deeper. */
  nested<T>(body: () => T): T {
    const { chain } = this;
    this.chain = 0;
    this.nesting++;
    const result = body();
    this.nesting--;
    this.chain = chain;
    return result;
  }

  /** Says what stands here without showing it. A check takes anything in its place. */
  cutOff(what: Cut | undefined, words: string): readonly string[] {
    if (what !== undefined) this.cut.add(what);
    if (this.detail.check) return ["any"];
    this.spent += words.length + 14;
    return [`${what === "levels" ? "object" : "unknown"} /* ${words} */`];
  }
}
