// Another extension that decides on trust: no.
export default function declining(pi) {
  pi.on("project_trust", () => ({ trusted: "no" }));
}
