/**
 * A process has one terminal: prompts take it in turn, in the order they were asked for, and what else wants to write
 * waits until nobody is being asked. This is the one place that knows whether somebody is.
 */

let last: Promise<unknown> = Promise.resolve();
let waiting = 0;
const held: (() => void)[] = [];

/** Runs `prompt` when those before it are done. One that is no longer wanted by then rejects without being run. */
export function takeTerminal<T>(prompt: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  waiting++;
  const turn = last.then(async () => {
    signal?.throwIfAborted();
    return prompt();
  });
  last = turn.then(release, release);
  return turn;
}

/** Somebody is being asked, or about to be. */
export function terminalTaken(): boolean {
  return waiting > 0;
}

/** Writes now, or once nobody is being asked. */
export function whenTerminalFree(write: () => void): void {
  if (waiting === 0) write();
  else held.push(write);
}

function release(): void {
  waiting--;
  if (waiting > 0) return;
  for (const write of held.splice(0)) write();
}
