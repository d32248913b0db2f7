/**
 * Tools such as real servers declare, made from a seed: descriptions of one to four sentences, three to ten
 * parameters, ranges and generator noise, enumerations, nullable and nested ones, shared definitions, and an
 * output schema on every third. The same count and seed give the same tools.
 */
const WORDS =
  "the search result page of a given issue or record is returned with its state owner label and time as text when present".split(
    " ",
  );
const NAMES =
  "query limit offset owner repo path state labels filter sort order page_size cursor content title body assignee since until format".split(
    " ",
  );

export function syntheticTools(count, seed = 1) {
  let state = seed >>> 0;
  const random = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const sentence = () => {
    const words = Array.from({ length: 6 + random(12) }, () => WORDS[random(WORDS.length)]).join(" ");
    return `${words[0].toUpperCase()}${words.slice(1)}.`;
  };
  const sentences = (least, most) => Array.from({ length: least + random(most - least + 1) }, sentence).join(" ");
  const scalar = () => {
    switch (random(7)) {
      case 0:
        return { type: "integer", minimum: 1, maximum: 100, default: 30 };
      case 1:
        return { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 };
      case 2:
        return { type: "string", enum: ["open", "closed", "all"], default: "open" };
      case 3:
        return { anyOf: [{ type: "string", format: "date-time" }, { type: "null" }], default: null };
      case 4:
        return { type: "boolean", default: false };
      case 5:
        return { type: "array", items: { type: "string", minLength: 1 }, maxItems: 20 };
      default:
        return { type: "string", minLength: 1, maxLength: 256 };
    }
  };
  const properties = (least, most, described) => {
    const members = {};
    for (let n = least + random(most - least + 1); n > 0; n--) {
      const schema = scalar();
      members[NAMES[random(NAMES.length)]] =
        random(10) < described ? { ...schema, description: sentences(1, 2) } : schema;
    }
    return members;
  };
  const object = (least, most, described) => {
    const members = properties(least, most, described);
    const names = Object.keys(members);
    return {
      type: "object",
      properties: members,
      required: names.slice(0, 1 + random(2)),
      additionalProperties: false,
    };
  };
  return Array.from({ length: count }, (_, n) => {
    const inputSchema = object(3, 9, 8);
    if (n % 2 === 0) inputSchema.properties.options = { ...object(2, 5, 5), description: sentence() };
    if (n % 5 === 0) {
      inputSchema.$defs = { Filter: object(3, 5, 3), Unused: object(4, 8, 8) };
      inputSchema.properties.all = { type: "array", items: { $ref: "#/$defs/Filter" } };
      inputSchema.properties.none = { $ref: "#/$defs/Filter", description: sentence() };
    }
    return {
      name: `mcp__server_${Math.floor(n / 30)}__tool_${n}`,
      description: sentences(1, 4),
      inputSchema: { $schema: "http://json-schema.org/draft-07/schema#", ...inputSchema },
      ...(n % 3 === 0 && {
        outputSchema: {
          type: "object",
          properties: { items: { type: "array", items: object(4, 9, 4) }, total: { type: "integer", minimum: 0 } },
          required: ["items"],
        },
      }),
    };
  });
}
