/** The source of what runs in a VM before a script: the functions of this folder, put together. Evaluates to `(bridge) => VmApi`. */
import { STORE_LIMITS } from "../protocol.ts";
import { installGlobals } from "./globals.ts";
import { lockdown } from "./lockdown.ts";
import { makeOutput } from "./output.ts";
import { makeSerialiser } from "./serialiser.ts";
import { makeStore } from "./store.ts";
import { makeTools } from "./tools.ts";

// The serialiser teaches built-ins their `toJSON`, so it comes before they are frozen.
export const PRELUDE = `(function (bridge) { "use strict";
const serialiser = (${makeSerialiser})();
(${lockdown})();
const output = (${makeOutput})(bridge, serialiser);
const store = (${makeStore})(serialiser, ${JSON.stringify(STORE_LIMITS)});
const tools = (${makeTools})(bridge, serialiser);
return (${installGlobals})(bridge, { output, serialiser, store, tools });
})`;
