/** One piece of work after another, in the order they were asked for. What fails keeps nothing after it from being done. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Comes to what `work` does, once everything before it is done. */
  take<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
