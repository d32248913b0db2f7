/** What the parts of the normaliser share: where a walk over a schema is, and how it goes on. */
import type { DiagnosticCode } from "../../schemas/diagnostic.ts";
import type { SchemaObject, TypeSet } from "./json-schema.ts";
import type { PlainSchema, TokenTable } from "./plain-schema.ts";

/** Something the type doesn't say, and where: a JSON pointer into the schema. */
export interface TypeRemark {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly pointer: string;
}

export interface NamedPlainSchema {
  /** Unique in the schema, an ASCII identifier in PascalCase; the empty name is the root. */
  readonly name: string;
  readonly comment: string;
  readonly schema: PlainSchema;
}

/** Where the walk is. */
export interface Position {
  readonly pointer: string;
  readonly depth: number;
  /** What `#` means here: the nearest enclosing schema with an `$id`, else the document. */
  readonly resource: unknown;
  /** The type being declared, while no object or array lies between: a reference back to it would be circular. */
  readonly declaring: SchemaObject | undefined;
}

export interface SchemaWalk {
  readonly tokens: TokenTable;
  /** The type of a subschema, given that its value can only be of the `allowed` types. */
  shape(schema: unknown, position: Position, allowed: TypeSet): PlainSchema;
  /** The same under a name, for a place where the type would be written more than once. */
  named(schema: unknown, position: Position, label: string): PlainSchema;
}

export function down(position: Position, steps: string): Position {
  return { ...position, pointer: `${position.pointer}/${steps}`, depth: position.depth + 1 };
}
