/**
 * The last check of generated types: each is parsed by TypeScript's own parser, from ts-morph, and must be one type
 * and nothing besides. Imports ts-morph on first use, which takes about 300 ms: only for types no cache has.
 */

/** Indexes of the texts that are not exactly one TypeScript type each. One parse when all are. */
export async function malformedTypes(texts: readonly string[]): Promise<number[]> {
  if (texts.length === 0) return [];
  const { ts } = await import("ts-morph");
  const holds = (declared: readonly string[]) => {
    const source = declared.map((text, index) => `type T${index} = ${text};`).join("\n");
    const file = ts.createSourceFile("types.ts", source, ts.ScriptTarget.ESNext, false, ts.ScriptKind.TS);
    // Not in the public typings, though every TypeScript has it; a full program takes 50 times as long.
    const { parseDiagnostics } = file as unknown as { parseDiagnostics: readonly unknown[] };
    return (
      parseDiagnostics.length === 0 &&
      file.statements.length === declared.length &&
      file.statements.every(
        (statement, index) => ts.isTypeAliasDeclaration(statement) && statement.name.text === `T${index}`,
      )
    );
  };
  if (holds(texts)) return [];
  return texts.flatMap((text, index) => (holds([text]) ? [] : [index]));
}
