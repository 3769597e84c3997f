/** What operations take and give. */

import type { UnavailableError } from "./errors.js";

/** A value of an attribute. */
export type Value = string | number | boolean | readonly (string | number)[];

/** Attributes by name. */
export type Values = Readonly<Record<string, Value>>;

/** The attributes of a check, as policies read them. */
export interface Attributes {
  readonly user?: Values;
  readonly resource?: Values;
  readonly action?: Values;
  readonly context?: Values;
}

/** The names of a tenant. `portcullis types --lang ts` writes a type with which wrong names do not compile. */
export interface TenantNames {
  resource: string;
  // Interfaces have no index signature, as `Values` has.
  attributes: { user?: object; resource?: object; action?: object; context?: object };
}

/** The names of any tenant. */
export interface AnyTenant {
  resource: string;
  attributes: Attributes;
}

/** A question: may the subject do the action on the resource? */
export interface Check<T extends TenantNames = AnyTenant> {
  readonly subject: string;
  /** `<name>:<verb>`. */
  readonly resource: T["resource"];
  /** The verb of the resource, if absent. */
  readonly action?: string;
  /** The domain of the client, if absent. */
  readonly domain?: string;
  readonly attributes?: T["attributes"];
  /** What another system decided. It changes no decision. */
  readonly expected?: "allow" | "deny";
  /** Tuples that count beside the stored ones, in this decision alone. They take the right to assume. */
  readonly relations?: readonly Relation[];
}

/** The answer to a check. */
export interface Decision {
  readonly allowed: boolean;
  /** The id of the rule or policy that decided. */
  readonly rule: string | undefined;
  readonly reason: string | undefined;
  /** `<policy>/<entities>`: the revisions that decided. A part may be empty. */
  readonly revision: string | undefined;
  /** The id of the record of the decision, if it was recorded. */
  readonly id: string | undefined;
  readonly requestId: string | undefined;
  /** The number of requests that were sent; 0 for an answer of the cache. */
  readonly attempts: number;
  /** Whether the service gave no decision, and `onUnavailable` did. */
  readonly unavailable: boolean;
}

export interface Permission {
  readonly resource: string;
  readonly action: string;
  readonly decision: string;
  /** The attributes that the decision depends on, where it does. */
  readonly dependsOn?: readonly string[];
}

/** An entity or action that a search found. */
export interface Found {
  readonly type?: string;
  readonly id?: string;
  readonly resource?: string;
  readonly action?: string;
  readonly decision?: string;
  readonly rule?: string;
  readonly dependsOn?: readonly string[];
}

export interface SearchPage {
  readonly results: readonly Found[];
  /** What the service cannot decide without attributes of resolvers. */
  readonly conditional: readonly Found[];
  /** Whether there is no further page. */
  readonly complete: boolean;
  /** Where the next page begins: `cursor` of the next call. */
  readonly next: string | undefined;
}

export interface Plan {
  readonly kind: string;
  readonly sql: { readonly text: string; readonly params: readonly unknown[] } | undefined;
  readonly exact: boolean;
}

export interface Entity {
  readonly type: string;
  readonly id: string;
  readonly [member: string]: unknown;
}

export interface Relation {
  readonly object: string;
  readonly relation: string;
  readonly subject: string;
}

export interface RelationCounts {
  readonly written: number;
  readonly unchanged: number;
  readonly deleted: number;
  readonly absent: number;
}

export interface Resource {
  readonly name: string;
  readonly displayName?: string;
  readonly serviceName?: string;
  readonly defaultRoles?: readonly string[];
}

/** The answer of any route. */
export interface Response {
  readonly status: number;
  readonly headers: Headers;
  /** The body; `undefined` where there is none. */
  readonly json: unknown;
}

/** What an unavailable service counts as: an error, a denial, or what a function says. */
export type OnUnavailable = "throw" | "deny" | ((failure: UnavailableError) => boolean);

/** A credential of a single call. */
export interface CallCredential {
  readonly serviceKey?: string;
  readonly token?: string;
}

export interface CallOptions {
  /** The deadline of this call, in milliseconds. */
  readonly timeoutMs?: number;
  /** A revision that the answer must not be older than. */
  readonly revision?: string;
  readonly onUnavailable?: OnUnavailable;
  readonly credential?: CallCredential;
  /** Ends the call, which rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** What is told about each call. What it throws is logged, and changes nothing. */
export interface Observer {
  /** Called before the first request. Returns headers to add, and a function that is told the end. */
  start(operation: string): { headers?: Readonly<Record<string, string>>; end?: (outcome: Outcome) => void };
}

/** How a call ended. */
export type Outcome = "allowed" | "denied" | "ok" | "unavailable" | "rejected" | "aborted";

export interface Options {
  /** The address of the service; the environment variable `PORTCULLIS_URL`, if absent. */
  url?: string;
  /** A service key; `PORTCULLIS_SERVICE_KEY`, if no other credential is given. */
  serviceKey?: string;
  token?: string;
  /** Returns a token. It is asked again when the service refuses one. */
  tokenProvider?: () => string | Promise<string>;
  /** Gets tokens by the grant `client_credentials` (RFC 6749, section 4.4). */
  clientCredentials?: { tokenUrl: string; clientId: string; clientSecret: string; scope?: string };
  /** The domain of checks that have none. */
  domain?: string;
  /** The deadline of each call, in milliseconds: it covers tokens, waits and all attempts. */
  timeoutMs?: number;
  maxAttempts?: number;
  /** The further attempts that each call adds to the budget. */
  retryBudget?: number;
  onUnavailable?: OnUnavailable;
  /** Keeps allows for up to `ttlMs` (5,000 at most). */
  cache?: { ttlMs: number; maxEntries?: number };
  /** Gathers the checks of one turn of the event loop into one request. */
  batch?: boolean;
  observer?: Observer;
}
