// A gate of another extension: scripts that say BLOCKED are not run, and of other tools none that is called "locked".
export default function gate(pi) {
  pi.on("tool_call", ({ toolName, input }) => {
    const isBlocked = toolName === "codemode" ? input.code.includes("BLOCKED") : toolName.endsWith("__locked");
    return isBlocked ? { block: true, reason: "the gate is shut" } : undefined;
  });
}
