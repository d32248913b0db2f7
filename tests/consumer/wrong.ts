// Must not compile: each line is a mistake that the generated types catch.
import { everything } from "./generated/index.js";

await everything.getSum({ a: "one", b: 2 });
await everything.getSum({ a: 1 });
await everything.getStructuredContent({ location: "Atlantis" });
await everything.echo({ mesage: "misspelt" });
const degrees: string = (await everything.getStructuredContent({ location: "Chicago" })).structured.temperature;
console.log(degrees, everything.noSuchTool);
