// RESULTS.md: one row a scenario, one column a protocol revision. No times and no counts, so that it changes only with what
// passes.

export function table(scenarios, results, suite) {
  const revisions = [...new Set(results.map(({ revision }) => revision))].sort();
  const resultOf = (name, revision) => results.find((one) => one.name === name && one.revision === revision);
  const rows = scenarios.map(({ name }) => {
    const cells = revisions.map((revision) => cell(resultOf(name, revision)));
    return `| ${name} | ${cells.join(" | ")} |`;
  });
  const whole = scenarios.filter(({ name }) => results.every((one) => one.name !== name || one.passed)).length;
  const failing = results.filter(({ passed }) => !passed);
  const reasons = failing.map(({ name, revision, expected }) => `- ${name} (${revision}): ${expected ?? "unexpected"}`);
  return `# Conformance

The client scenarios of \`@modelcontextprotocol/conformance\` ${suite} against pimcp's runtime, made by \`npm run conformance\`.
${whole} of ${scenarios.length} scenarios pass at every revision they are run at.

| scenario | ${revisions.join(" | ")} |
|---|${revisions.map(() => "---|").join("")}
${rows.join("\n")}
${reasons.length > 0 ? `\nWhat fails, and why:\n\n${reasons.join("\n")}\n` : ""}`;
}

function cell(result) {
  if (result === undefined) return "";
  return result.passed ? "pass" : "fails";
}
