/** Allows that were answered a short time ago. */

import { differs, NO_REVISION, parseRevision, reaches, type Revision } from "./revisions.js";
import type { Decision } from "./types.js";

/** The longest time that an allow may be kept, in milliseconds. */
export const LONGEST_TTL_MS = 5000;
const MOST_ENTRIES = 10_000;

interface Entry {
  readonly decision: Decision;
  readonly end: number;
}

export class AllowCache {
  readonly #ttlMs: number;
  readonly #most: number;
  // A `Map` keeps its entries in the order of their arrival: the first one is the oldest.
  readonly #entries = new Map<string, Entry>();
  readonly #identities = new WeakMap<object, number>();
  #nextIdentity = 0;
  #revision: Revision = NO_REVISION;

  constructor(ttlMs: number, maxEntries = MOST_ENTRIES) {
    this.#ttlMs = ttlMs;
    this.#most = maxEntries;
  }

  /** Returns the key of what is sent by a credential. */
  key(identity: object | string, body: string): string {
    if (typeof identity === "string") return `${identity}\n${body}`;
    let number = this.#identities.get(identity);
    if (number === undefined) this.#identities.set(identity, (number = this.#nextIdentity++));
    return `${number}\n${body}`;
  }

  get(key: string): Decision | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (entry.end > performance.now()) return { ...entry.decision, attempts: 0 };
    this.#entries.delete(key);
    return undefined;
  }

  /** Keeps an allow, unless other answers have made it old meanwhile. */
  put(key: string, decision: Decision): void {
    if (decision.revision !== undefined && differs(parseRevision(decision.revision), this.#revision)) return;
    this.#entries.delete(key);
    if (this.#entries.size >= this.#most) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest);
        break;
      }
    }
    this.#entries.set(key, { decision, end: performance.now() + this.#ttlMs });
  }

  /** Drops everything if an answer has another revision than the entries. */
  answered(revision: Revision): void {
    if (differs(this.#revision, revision)) this.#entries.clear();
    this.#revision = {
      policy: revision.policy ?? this.#revision.policy,
      entities: revision.entities ?? this.#revision.entities,
    };
  }

  /** Drops everything. */
  clear(): void {
    this.#entries.clear();
    this.#revision = NO_REVISION;
  }

  /** Returns whether the entries are at least as new as `demanded`. */
  reaches(demanded: Revision): boolean {
    return reaches(this.#revision, demanded);
  }
}
