// Values that a person would fill in who has nothing particular in mind: what the schema proposes, else the first that fits.

/** A value for a property of a tool's input. */
export function sampleOf(schema) {
  if (schema === null || typeof schema !== "object") return "text";
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "number":
    case "integer":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    case "array":
      return [];
    case "object":
      return argumentsFor(schema);
    case "null":
      return null;
    default:
      return "text";
  }
}

/** An object with what a schema requires and nothing else. */
export function argumentsFor(schema) {
  const names = schema?.required ?? [];
  return Object.fromEntries(names.map((name) => [name, sampleOf(schema.properties?.[name])]));
}

/** Accepts a form as it is proposed: every field that has a default is left at it. */
export function answerWithDefaults({ requestedSchema }) {
  const fields = Object.entries(requestedSchema?.properties ?? {});
  const required = new Set(requestedSchema?.required ?? []);
  const filled = fields.filter(([name, field]) => field.default !== undefined || required.has(name));
  return { action: "accept", content: Object.fromEntries(filled.map(([name, field]) => [name, sampleOf(field)])) };
}
