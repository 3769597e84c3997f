/** One deadline over everything that a call does. */

import { unsendable } from "./errors.js";

/** The longest time of a timer, in milliseconds: a longer one would end at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The time that a call may still take, by a monotonic clock. */
export class Deadline {
  readonly #end: number;
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #caller: AbortSignal | undefined;
  readonly #onCallerAbort = (): void => this.#controller.abort();

  constructor(timeoutMs: number, caller: AbortSignal | undefined) {
    if (!(timeoutMs > 0)) throw unsendable("expected `timeoutMs` above 0");
    this.#end = performance.now() + timeoutMs;
    this.#timer = setTimeout(() => this.#controller.abort(), Math.min(timeoutMs, LONGEST_TIMER_MS));
    this.#caller = caller;
    if (caller?.aborted) this.#controller.abort();
    caller?.addEventListener("abort", this.#onCallerAbort, { once: true });
  }

  /** Aborts when the deadline is over or the caller gives up. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The milliseconds that are left. */
  get left(): number {
    return this.#end - performance.now();
  }

  /** Throws the reason of the caller's signal, if that is what ended the call. */
  throwIfCallerAborted(): void {
    this.#caller?.throwIfAborted();
  }

  /** Waits, or until the deadline. */
  async wait(ms: number): Promise<void> {
    await this.race(new Promise((resolve) => setTimeout(resolve, ms)));
  }

  /** Returns what `work` gives, or rejects with `EXPIRED` when the deadline is over. */
  async race<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    if (signal.aborted) {
      work.catch(() => undefined);
      throw EXPIRED;
    }
    let expire!: () => void;
    const expired = new Promise<never>((_, reject) => {
      expire = () => reject(EXPIRED);
      signal.addEventListener("abort", expire, { once: true });
    });
    try {
      return await Promise.race([work, expired]);
    } finally {
      signal.removeEventListener("abort", expire);
    }
  }

  /** Ends the timer. */
  close(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#onCallerAbort);
  }
}

/** The rejection of work that the deadline ends. */
export const EXPIRED = new Error("the deadline is over");
