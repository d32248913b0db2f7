// Made from budget.schema.json by `npm run schemas`. Do not edit.

/**
 * generated/budget.json: what the declarations cost, and which ones the model is shown in codemode.d.ts.
 */
export interface BudgetFile {
/**
 * Version of the artifact format. The runtime refuses a version it does not know and names `pimcp compile`.
 */
formatVersion: 1
/**
 * Tokens granted for declarations (`codemode.inlineBudget`).
 */
inlineBudget: number
/**
 * Characters counted as one token.
 */
charsPerToken: 4
/**
 * Tokens of codemode.d.ts as written.
 */
declaredTokens: number
/**
 * Tokens if every callable tool were declared.
 */
totalTokens: number
servers: {
name: string
/**
 * Tools eligible for a declaration (exposure `codemode`).
 */
tools: number
/**
 * Tools declared.
 */
shown: number
/**
 * Fewer shown than eligible: codemode.d.ts says PARTIAL.
 */
partial: boolean
/**
 * Tokens of the declarations shown.
 */
tokens: number
}[]
/**
 * Every tool that is not hidden, by folded name.
 */
tools: {
[k: string]: {
/**
 * Tokens of the tool's declaration.
 */
tokens: number
/**
 * Declared in codemode.d.ts.
 */
declared: boolean
}
}
}
