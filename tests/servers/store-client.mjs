/** A process that changes or reads stored credentials. One argument: JSON with the build's folder, the agent folder, the server's name and URL, and what to do. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { dist, agentDir, server, url, act } = JSON.parse(process.argv[2]);
const load = (path) => import(pathToFileURL(join(dist, path)).href);
const { fileStore } = await load("runtime/connect/auth/store.js");
const { credentialKey } = await load("runtime/connect/auth/store-file.js");
const store = fileStore(agentDir);
const key = credentialKey(server, new URL(url));
try {
  if (act.count !== undefined) {
    for (let done = 0; done < act.count; done++) {
      await store.update(key, (stored) => ({ ...stored, serverUrl: key.url, n: (stored?.n ?? 0) + 1 }));
    }
  }
  if (act.writable) await store.assertWritable(key);
  console.log(JSON.stringify({ stored: (await store.read(key)) ?? null }));
} catch (error) {
  console.log(JSON.stringify({ code: error.code, message: error.message }));
}
