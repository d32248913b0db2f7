/**
 * Words of a text for tool search, the same for the index and for a query. Names are split as people
 * read them (`addPerson`, `add_person`, `add-person` → `add`, `person`) and also kept whole without
 * their separators (`=addperson`), so any spelling of a name finds it.
 *
 * Index terms are the same bytes on every machine: scripts written without spaces (Chinese, Japanese, Thai…)
 * are indexed as overlapping pairs of characters, because `Intl.Segmenter` cuts them by a dictionary
 * that changes with the ICU version. A query is cut by `Intl.Segmenter` first, where a difference costs at
 * most a rank. Nothing here depends on a locale.
 */

/** Longer runs of letters and digits are no words (base64, digests) and are left out of prose. */
const MAX_WORD_CHARS = 40;
/** Characters of a name that tell it from others when it is kept whole. */
const MAX_NAME_CHARS = 128;

const UNSPACED_SCRIPTS =
  "\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}";
/** A run of an unspaced script, or a run of other letters and digits. */
const RUNS = new RegExp(
  `(?<unspaced>(?:(?=[${UNSPACED_SCRIPTS}])[\\p{L}\\p{M}\\p{N}])+)|(?:(?![${UNSPACED_SCRIPTS}])[\\p{L}\\p{M}\\p{N}])+`,
  "gu",
);
const ASCII = /^[\x00-\x7f]*$/;
const ASCII_RUNS = /[A-Za-z0-9]+/g;
const ONE_WORD = /^(?:[a-z]+|[0-9]+)$/;
/** `HTTPServer2` → HTTP, Server, 2; a plural of capitals (`URLs`) stays one word. */
const PARTS = /\p{Lu}{2,}s(?!\p{Ll})|\p{Lu}+(?!\p{Ll})|\p{Lu}?(?:\p{Ll}|\p{M})+|\p{N}+|[\p{Lo}\p{Lm}\p{M}]+|\p{L}/gu;

const STOP_WORDS = new Set(
  (
    "a an and any are as at be by can do does for from has have how i if in into is it its me my of on or " +
    "that the their them then these this those to was what when where which will with you your"
  ).split(" "),
);

/** Terms of prose in order, repeats included; words that say nothing are left out. */
export function proseTerms(text: string): string[] {
  return terms(text, indexRun).filter((term) => !STOP_WORDS.has(term));
}

/** Terms of a name in order, repeats included: its words and the parts of each. */
export function nameTerms(name: string): string[] {
  return terms(name, indexRun);
}

/** The term for a name as a whole, apart from all words by its `=`; undefined for a name without letters and digits. */
export function wholeNameTerm(name: string): string | undefined {
  const whole = squashed(name.slice(0, MAX_NAME_CHARS));
  return whole === "" ? undefined : `=${whole}`;
}

/** Distinct terms of a query; a query of nothing but stop words keeps them. */
export function queryTerms(query: string): string[] {
  const all = [...new Set(terms(query, queryRun))];
  const telling = all.filter((term) => !STOP_WORDS.has(term));
  return telling.length > 0 ? telling : all;
}

/** Is `word` one of those that say nothing in a query? */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word.toLowerCase());
}

/** A name with case, accents and separators gone: `add_Person` and `addPerson` → `addperson`. */
export function squashed(name: string): string {
  if (ASCII.test(name)) return name.replace(/[^A-Za-z0-9]+/g, "").toLowerCase();
  return withoutAccents(name)
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "")
    .toLowerCase();
}

function terms(text: string, unspaced: (run: string) => string[]): string[] {
  const found: string[] = [];
  if (ASCII.test(text)) {
    for (const [word] of text.matchAll(ASCII_RUNS)) addWord(word, found);
    return found;
  }
  for (const match of withoutAccents(text).matchAll(RUNS)) {
    if (match.groups!["unspaced"] === undefined) addWord(match[0], found);
    else found.push(...unspaced(match[0].toLowerCase()));
  }
  return found;
}

function addWord(word: string, found: string[]): void {
  if (word.length > MAX_WORD_CHARS) return;
  const lower = word.toLowerCase();
  found.push(lower);
  if (ONE_WORD.test(word)) return;
  const parts = word.match(PARTS) ?? [];
  if (parts.length < 2) return;
  // A single letter or digit of `s3` or `getX` finds nothing that the whole word does not.
  for (const part of parts) if (part.length > 1) found.push(part.toLowerCase());
}

/** Every pair of neighbouring characters, and the last one alone, so that each character starts a term. */
function indexRun(run: string): string[] {
  const characters = [...run];
  return characters.map((character, index) => character + (characters[index + 1] ?? ""));
}

function queryRun(run: string): string[] {
  segmenter ??= new Intl.Segmenter("und", { granularity: "word" });
  return [...segmenter.segment(run)].flatMap(({ segment }) => {
    const pairs = indexRun(segment);
    return pairs.length > 1 ? pairs.slice(0, -1) : pairs;
  });
}
let segmenter: Intl.Segmenter | undefined;

/** Combining accents removed, everything else composed again (Hangul must not stay in pieces). */
function withoutAccents(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC");
}
