/** What `asking.mjs` was sent, read from its LOG. */
import { readFileSync } from "node:fs";

type Params = Readonly<Record<string, unknown>>;
export interface Received {
  readonly method?: string;
  readonly params?: Params;
}

/** The messages behind the first `from` characters. */
export function readAskingLog(file: string, from = 0): Received[] {
  return readFileSync(file, "utf8")
    .slice(from)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Received);
}

/** The client capabilities that the server was told of, in whichever way its era has, each once; those of tasks aside. */
export function advertised(received: readonly Received[]): unknown[] {
  const told = received.flatMap(({ method, params }) => {
    if (method === "initialize") return [params?.["capabilities"]];
    const meta = params?.["_meta"] as Params | undefined;
    return meta?.["io.modelcontextprotocol/clientCapabilities"] ?? [];
  });
  const features = told.map((one) => {
    const { extensions: _, tasks: __, ...rest } = one as Record<string, unknown>;
    return JSON.stringify(rest);
  });
  return [...new Set(features)].map((one) => JSON.parse(one));
}
