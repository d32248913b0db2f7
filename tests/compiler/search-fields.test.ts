/** Everything a tool and its server say is found, where the issue asks for it, and a hidden tool by nothing of it. */
import { describe, expect, test } from "vitest";
import { search } from "../../runtime/search.ts";
import { layerArtifacts } from "../../schemas/artifacts/layer.ts";
import { openSpec } from "../artifacts-builder.ts";

const address = {
  type: "object",
  properties: {
    postcode: { type: "string", description: "As printed on an envelope" },
    next: { $ref: "#/$defs/Addr" },
  },
};
const TOOL = {
  name: "registerParcel",
  title: "Shipment form",
  description: "Announces a delivery",
  inputSchema: {
    type: "object",
    description: "Gibberish of the whole",
    properties: {
      to: { $ref: "#/$defs/Addr", description: "Recipient's whereabouts" },
      weights: { type: "array", items: { type: "number", description: "Kilograms, one a piece" } },
    },
    $defs: { Addr: address, Old: { type: "object", properties: { telex: { description: "Teleprinter" } } } },
  },
};
const SERVER = {
  name: "post-office",
  description: "Parcels and letters",
  instructions: "Start with a quote.\nThen pay by giro before anything leaves the warehouse.",
};

function found(query: string, exposure?: "hidden"): string[] {
  const project = openSpec({
    servers: [
      { ...SERVER, ...(exposure && { exposure }), tools: [TOOL] },
      { name: "other", tools: [{ name: "noise", description: "Something else" }] },
    ],
  });
  const result = search(layerArtifacts({ project, user: undefined }).value, query);
  if (!result.ok) throw new Error(result.diagnostic.message);
  return result.value.map(({ tool }) => tool);
}

describe("found by", () => {
  const queries = [
    ["its name", "registerParcel"],
    ["a part of its name", "parcel"],
    ["its name in kebab-case", "register-parcel"],
    ["its title", "shipment"],
    ["its description", "announces"],
    ["a parameter", "weights"],
    ["a parameter behind a recursive $ref", "postcode"],
    ["a parameter's description", "whereabouts"],
    ["a description behind a $ref", "envelope"],
    ["a description of elements", "kilograms"],
    ["its server", "office"],
    ["its server's description", "letters"],
    ["its server's instructions", "quote"],
    ["a later line of the instructions", "giro"],
  ] as const;
  test.each(queries)("%s: %s", (_, query) => {
    expect(found(query)).toEqual(["registerParcel"]);
    expect(found(query, "hidden")).toEqual([]);
  });
});

test("not by definitions nobody refers to", () => {
  expect(found("telex")).toEqual([]);
  expect(found("teleprinter")).toEqual([]);
});

test("a tool that says it of itself comes before one whose parameter or server does", () => {
  const project = openSpec({
    servers: [
      {
        name: "a",
        description: "Books",
        instructions: "Invoices everywhere",
        tools: [
          { name: "x1", inputSchema: { properties: { p: { description: "Number of the invoices" } } } },
          { name: "x2" },
        ],
      },
      { name: "z", tools: [{ name: "x3", description: "Lists invoices of a customer in a period" }] },
    ],
  });
  const result = search(layerArtifacts({ project, user: undefined }).value, "invoices");
  expect(result.ok && result.value.map(({ tool }) => tool)).toEqual(["x3", "x1", "x2"]);
});
