// Preloaded into Pi: appends the file of every module to MODULES_LOG as Node loads it.
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) appendFileSync(process.env.MODULES_LOG, `${Date.now()} ${url}\n`);
    return next(url, context);
  },
});
