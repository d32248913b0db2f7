// A program of somebody else's: imports generated clients, calls tools with types, and ends by itself.

import { RefusedError, ServerError, ToolError } from "pimcp";
import { ToolError as StubToolError } from "pimcp/codegen/v1";
import { everything, memory } from "./generated/index.js";

const weather = await everything.getStructuredContent({ location: "Chicago" });
const degrees: number = weather.structured.temperature;
const sum = await everything.getSum({ a: 20, b: 22 });
await memory.createEntities({ entities: [{ name: "Ada", entityType: "person", observations: ["wrote a program"] }] });
const graph = await memory.openNodes({ names: ["Ada"] });

const failed = await memory.addObservations({ observations: [{ entityName: "Nobody", contents: ["x"] }] }).then(
  () => "no error",
  (error: unknown) => error,
);
const refused = await everything.getSum({ a: 1 } as never).then(
  () => "no error",
  (error: unknown) => error,
);

console.log(
  JSON.stringify({
    degrees: typeof degrees,
    sum: sum.text,
    names: graph.structured.entities.map((entity) => entity.name),
    toolError: failed instanceof ToolError && failed instanceof StubToolError && failed.result.isError === true,
    refused: refused instanceof RefusedError && !(refused instanceof ServerError),
  }),
);
