/**
 * The parts of jsonc-parser that are used, under a path of ours. The build replaces this file's output with a bundle of its
 * ES modules: the package's main entry is UMD with computed requires, which breaks in users' bundles, and loading it
 * whole costs more than parsing does.
 */
export { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
