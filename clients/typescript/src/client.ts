/** The client: one method for each operation. */

import {
  countsOf, decisionOf, decisionsOf, jsonOf, legacyDecisionOf, permissionsOf, planOf, searchPageOf,
} from "./answers.js";
import { isAddress, isBare } from "./address.js";
import { AllowCache, LONGEST_TTL_MS } from "./cache.js";
import { callCredential, credentialOf, environment, type Credential } from "./credentials.js";
import { Deadline } from "./deadline.js";
import { DeniedError, RejectedError, UnavailableError, unsendable } from "./errors.js";
import {
  answeredRevision, highest, NO_REVISION, parseRevision, revisionText, type Revision,
} from "./revisions.js";
import { isObject, LostRevision, Transport, type Answer } from "./transport.js";
import type {
  AnyTenant, CallOptions, Check, Decision, Entity, Observer, OnUnavailable, Options, Outcome, Permission, Plan, Relation,
  RelationCounts, Resource, Response, SearchPage, TenantNames,
} from "./types.js";
import { VERSION } from "./version.js";

/** The most checks of one batch. */
const MOST_CHECKS = 10_000;
const DEFAULT_TIMEOUT_MS = 1000;

/** An operation: its name, its request, and what its answer must be. */
interface Call<V> {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Whether the request may be sent again. */
  readonly repeats?: boolean;
  /** Whether it takes `X-Min-…`. */
  readonly reads?: boolean;
  /** Whether its answer has the revision of an own write. */
  readonly writes?: boolean;
  /** Returns the value of an answer; `undefined` where it is not an answer of the service. */
  read(answer: Answer): V | undefined;
}

/** A call from its begin to its end. Its requests have one deadline and one request id. */
interface Session {
  readonly options: CallOptions;
  readonly deadline: Deadline;
  readonly headers: Readonly<Record<string, string>>;
}

/** A check that waits for the others of its turn. */
interface Waiting<T extends TenantNames> {
  readonly check: Check<T>;
  readonly resolve: (decision: Decision | Promise<Decision>) => void;
  readonly reject: (error: unknown) => void;
}

/** A client of one service. It may be shared by everything that asks. */
export class Portcullis<T extends TenantNames = AnyTenant> {
  readonly #transport: Transport;
  readonly #credential: Credential;
  readonly #domain: string | undefined;
  readonly #timeoutMs: number;
  readonly #onUnavailable: OnUnavailable;
  readonly #cache: AllowCache | undefined;
  readonly #observer: Observer | undefined;
  readonly #gathers: boolean;
  #waiting: Waiting<T>[] = [];
  #revision: Revision = NO_REVISION;

  constructor(options: Options = {}) {
    const url = options.url ?? environment("PORTCULLIS_URL");
    if (url === undefined) throw unsendable("expected `url`, or the variable PORTCULLIS_URL");
    const { cache } = options;
    if (cache && !(cache.ttlMs > 0 && cache.ttlMs <= LONGEST_TTL_MS)) {
      throw unsendable(`expected \`cache.ttlMs\` above 0 and up to ${LONGEST_TTL_MS}`);
    }
    if (cache?.maxEntries !== undefined && !(cache.maxEntries >= 1)) throw unsendable("expected `cache.maxEntries` above 0");
    const { timeoutMs = DEFAULT_TIMEOUT_MS, maxAttempts = 3, retryBudget = 0.1 } = options;
    if (!(timeoutMs > 0 && maxAttempts >= 1 && retryBudget >= 0)) {
      throw unsendable("expected `timeoutMs` and `maxAttempts` above 0, and `retryBudget` of 0 or more");
    }
    if (!isAddress(url) || !isBare(url)) throw unsendable("expected a `url` of http or https, without user, query and fragment");
    this.#transport = new Transport(url, maxAttempts, retryBudget);
    this.#credential = credentialOf(options);
    this.#domain = options.domain;
    this.#timeoutMs = timeoutMs;
    this.#onUnavailable = options.onUnavailable ?? "throw";
    this.#cache = cache && new AllowCache(cache.ttlMs, cache.maxEntries);
    this.#observer = options.observer;
    this.#gathers = options.batch ?? false;
  }

  /** Asks whether the subject may do the action on the resource. A denial is a value. */
  async check(check: Check<T>, options: CallOptions = {}): Promise<Decision> {
    if (this.#gathers && Object.keys(options).length === 0) return this.#gathered(check);
    return this.#checked("check", check, options);
  }

  /** Returns an allow; rejects with a `DeniedError` for a denial. */
  async require(check: Check<T>, options: CallOptions = {}): Promise<Decision> {
    const decision = await this.#checked("require", check, options);
    if (!decision.allowed) throw new DeniedError(decision);
    return decision;
  }

  /** Decides many checks by the rules of one revision, in order. */
  async checks(checks: readonly Check<T>[], options: CallOptions = {}): Promise<readonly Decision[]> {
    if (checks.length > MOST_CHECKS) throw unsendable(`expected at most ${MOST_CHECKS} checks, got ${checks.length}`);
    if (checks.length === 0) return [];
    const call: Call<Decision[]> = {
      operation: "checks", method: "POST", path: "/api/v1/checks", repeats: true, reads: true,
      body: { checks: checks.map((check) => this.#bodyOf(check)) },
      read: (answer) => decisionsOf(answer, checks.length),
    };
    return this.#decided(options, () => this.#call(call, options), (one) => checks.map(() => one));
  }

  /** Asks by the route of the legacy check; without `subject` about the caller. */
  async accessCheck(of: { resource: T["resource"]; subject?: string }, options: CallOptions = {}): Promise<Decision> {
    const call: Call<Decision> = {
      operation: "access_check", method: "POST", path: "/api/v1/resources/access/check", repeats: true, reads: true,
      body: of, read: legacyDecisionOf,
    };
    return this.#decided(options, () => this.#call(call, options), (one) => one);
  }

  /** Lists what a subject (without one the caller) may do on each registered resource, from all pages. */
  async permissions(of: { subject?: string } = {}, options: CallOptions = {}): Promise<readonly Permission[]> {
    return this.#observed("permissions", options, async (session) => {
      const found: Permission[] = [];
      let path: string | undefined = "/api/v1/permissions";
      while (path !== undefined) {
        const page: [Permission[], string | undefined] = await this.#exchange(
          { operation: "permissions", method: "POST", path, repeats: true, reads: true, body: of, read: permissionsPage }, session,
        );
        found.push(...page[0]);
        path = page[1];
      }
      return found;
    });
  }

  async searchResources(body: Readonly<Record<string, unknown>>, options: CallOptions = {}): Promise<SearchPage> {
    return this.#search("resources", body, options);
  }

  async searchSubjects(body: Readonly<Record<string, unknown>>, options: CallOptions = {}): Promise<SearchPage> {
    return this.#search("subjects", body, options);
  }

  async searchActions(body: Readonly<Record<string, unknown>>, options: CallOptions = {}): Promise<SearchPage> {
    return this.#search("actions", body, options);
  }

  /** Returns the condition of an action as SQL, for rows of the caller's own database. */
  async plan(body: Readonly<Record<string, unknown>>, options: CallOptions = {}): Promise<Plan> {
    const read = (answer: Answer): Plan | undefined => planOf(jsonOf(answer));
    return this.#call({ operation: "plan", method: "POST", path: "/api/v1/plan", repeats: true, reads: true, body, read }, options);
  }

  /** Creates or replaces an entity. */
  async putEntity(type: string, id: string, body: Readonly<Record<string, unknown>>, options: CallOptions = {}): Promise<Entity> {
    return this.#writeEntity("put_entity", "PUT", entityPath(type, id), body, options);
  }

  /** Changes an entity. */
  async patchEntity(type: string, id: string, body: Readonly<Record<string, unknown>>, options: CallOptions = {}): Promise<Entity> {
    return this.#writeEntity("patch_entity", "PATCH", entityPath(type, id), body, options);
  }

  /** Deletes an entity. */
  async deleteEntity(type: string, id: string, options: CallOptions = {}): Promise<void> {
    const path = entityPath(type, id);
    try {
      await this.#call({ operation: "delete_entity", method: "DELETE", path, repeats: true, writes: true, read: () => true }, options);
    } catch (error) {
      // An earlier attempt may have deleted it.
      if (!(error instanceof RejectedError && error.status === 404 && error.attempts > 1)) throw error;
    }
  }

  /** Writes and deletes tuples, all or none. */
  async writeRelations(
    change: { write?: readonly Relation[]; delete?: readonly Relation[] },
    options: CallOptions = {},
  ): Promise<RelationCounts> {
    const read = (answer: Answer): RelationCounts | undefined => countsOf(jsonOf(answer));
    const body = { write: change.write ?? [], delete: change.delete ?? [] };
    return this.#call(
      { operation: "write_relations", method: "POST", path: "/api/v1/relations", repeats: true, writes: true, body, read }, options,
    );
  }

  /** Registers resources, as a service does at its start. */
  async registerResources(resources: readonly Resource[], options: CallOptions = {}): Promise<Resource[]> {
    const read = (answer: Answer): Resource[] | undefined => {
      const records = jsonOf(answer);
      return Array.isArray(records) && records.every(isObject) ? (records as unknown as Resource[]) : undefined;
    };
    return this.#call(
      {
        operation: "register_resources", method: "POST", path: "/api/v1/resources/list", repeats: true, writes: true,
        body: resources, read,
      },
      options,
    );
  }

  /** Sends a request to any route. Only a `GET` is tried again. */
  async request(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Response> {
    if (!path.startsWith("/")) throw unsendable("expected a path that begins with `/`");
    if (!/^[!-~]+$/.test(path) || !/^[A-Za-z]+$/.test(method)) {
      throw unsendable("the request cannot be sent: its method or path is malformed");
    }
    const read = (answer: Answer): Response | undefined => {
      const json = answer.text === "" ? undefined : jsonOf(answer);
      const isAnswer = answer.text === "" || json !== undefined;
      return isAnswer ? { status: answer.status, headers: answer.headers, json } : undefined;
    };
    const reads = method === "GET";
    return this.#call({ operation: "request", method, path, body, repeats: reads, writes: !reads, read }, options);
  }

  /** Returns the highest revisions of the client's own writes, as `<policy>/<entities>`. */
  revision(): string {
    return revisionText(this.#revision);
  }

  async #checked(operation: string, check: Check<T>, options: CallOptions): Promise<Decision> {
    const call: Call<Decision> = {
      operation, method: "POST", path: "/api/v1/check", repeats: true, reads: true, body: this.#bodyOf(check), read: decisionOf,
    };
    const ask = (session: Session): Promise<Decision> => this.#kept(call.body, options, () => this.#exchange(call, session));
    return this.#decided(options, () => this.#observed(operation, options, ask), (one) => one);
  }

  /** Returns the allow that the cache has, or asks and keeps an allow. */
  async #kept(body: unknown, options: CallOptions, ask: () => Promise<Decision>): Promise<Decision> {
    if (!this.#cache) return ask();
    const credential = options.credential ? callCredential(options.credential) : this.#credential;
    const key = this.#cache.key(credential.identity, jsonText(body));
    const kept = this.#cache.reaches(this.#demanded(options)) ? this.#cache.get(key) : undefined;
    if (kept) return kept;
    const decision = await ask();
    if (decision.allowed && !decision.unavailable) this.#cache.put(key, decision);
    return decision;
  }

  /** Puts a check into the batch of this turn of the event loop. */
  async #gathered(check: Check<T>): Promise<Decision> {
    const body = this.#bodyOf(check);
    // What cannot be sent is not the fault of the others.
    jsonText(body);
    return this.#kept(body, {}, () => {
      if (this.#waiting.length === 0) queueMicrotask(() => void this.#sendGathered());
      return new Promise((resolve, reject) => this.#waiting.push({ check, resolve, reject }));
    });
  }

  async #sendGathered(): Promise<void> {
    const waiting = this.#waiting.splice(0);
    for (let first = 0; first < waiting.length; first += MOST_CHECKS) {
      const part = waiting.slice(first, first + MOST_CHECKS);
      try {
        const decisions = await this.checks(part.map((one) => one.check));
        part.forEach((one, number) => one.resolve(decisions[number] as Decision));
      } catch (error) {
        // The fault of one check refuses the batch: each is asked alone, and gets its own answer.
        const isOfOne = error instanceof RejectedError && error.status === 400 && part.length > 1;
        part.forEach((one) => (isOfOne ? one.resolve(this.#checked("check", one.check, {})) : one.reject(error)));
      }
    }
  }

  #bodyOf(check: Check<T>): Record<string, unknown> {
    const { subject, resource, action, domain, attributes, expected, relations } = check;
    // Members that are absent are left out of the JSON.
    return { subject, resource, action: action ?? verbOf(resource), domain: domain ?? this.#domain, attributes, expected, relations };
  }

  async #search(what: string, body: Readonly<Record<string, unknown>>, options: CallOptions): Promise<SearchPage> {
    const read = (answer: Answer): SearchPage | undefined => searchPageOf(jsonOf(answer));
    const path = `/api/v1/search/${what}`;
    return this.#call({ operation: `search_${what}`, method: "POST", path, repeats: true, reads: true, body, read }, options);
  }

  async #writeEntity(operation: string, method: string, path: string, body: unknown, options: CallOptions): Promise<Entity> {
    const read = (answer: Answer): Entity | undefined => {
      const record = jsonOf(answer);
      return isObject(record) ? (record as Entity) : undefined;
    };
    return this.#call({ operation, method, path, body, repeats: true, writes: true, read }, options);
  }

  /** Returns what `decide` gives, or what an unavailable service counts as. */
  async #decided<D>(options: CallOptions, decide: () => Promise<D>, all: (one: Decision) => D): Promise<D> {
    try {
      return await decide();
    } catch (error) {
      const policy = options.onUnavailable ?? this.#onUnavailable;
      if (!(error instanceof UnavailableError) || policy === "throw") throw error;
      const allowed = policy === "deny" ? false : policy(error) === true;
      return all({
        allowed, rule: undefined, reason: error.message, revision: undefined, id: undefined, requestId: undefined,
        attempts: error.attempts, unavailable: true,
      });
    }
  }

  async #call<V>(call: Call<V>, options: CallOptions): Promise<V> {
    return this.#observed(call.operation, options, (session) => this.#exchange(call, session));
  }

  /** Makes a call, and tells the observer how it ends. */
  async #observed<V>(operation: string, options: CallOptions, work: (session: Session) => Promise<V>): Promise<V> {
    const deadline = new Deadline(options.timeoutMs ?? this.#timeoutMs, options.signal);
    const observed = harmless(() => this.#observer?.start(operation));
    try {
      const value = await work({ options, deadline, headers: { ...observed?.headers, "x-request-id": crypto.randomUUID() } });
      harmless(() => observed?.end?.(outcomeOf(value)));
      return value;
    } catch (error) {
      harmless(() => observed?.end?.(outcomeOfError(error)));
      throw error;
    } finally {
      deadline.close();
    }
  }

  async #exchange<V>(call: Call<V>, { options, deadline, headers: added }: Session): Promise<V> {
    const credential = options.credential ? callCredential(options.credential) : this.#credential;
    const body = call.body === undefined ? undefined : jsonText(call.body);
    const headers = {
      ...added, ...commonHeaders(body), ...(call.reads ? minimumHeaders(this.#demanded(options)) : {}),
    };
    const { method, path, repeats = false } = call;
    let answer: Answer;
    try {
      answer = await this.#transport.send({ method, path, body, headers, repeats }, credential, deadline);
    } catch (error) {
      if (error instanceof LostRevision) this.#forget(error.details);
      throw error;
    }
    const revision = answeredRevision(answer.headers);
    if (call.writes) this.#revision = highest(this.#revision, revision);
    this.#cache?.answered(revision);
    const value = call.read(answer);
    if (value === undefined) {
      const message = "the answer is not one of the service";
      throw new UnavailableError({ kind: "answer", message, attempts: answer.attempts, status: answer.status });
    }
    return value;
  }

  /** Returns the revisions that an answer must not be older than. */
  #demanded(options: CallOptions): Revision {
    return options.revision === undefined ? this.#revision : highest(this.#revision, parseRevision(options.revision));
  }

  /** Replaces the revision that the service lost by the one that it has, or forgets both. */
  #forget(details: Readonly<Record<string, unknown>>): void {
    this.#cache?.clear();
    const { of, revision } = details;
    const present = typeof revision === "number" ? revision : undefined;
    this.#revision =
      of === "policy" ? { ...this.#revision, policy: present }
      : of === "entities" ? { ...this.#revision, entities: present }
      : NO_REVISION;
  }
}

/** Returns what stands behind the last colon; `undefined` where it is percent-encoded: the service decodes it for its rules. */
function verbOf(resource: string): string | undefined {
  const verb = resource.slice(resource.lastIndexOf(":") + 1);
  return verb.includes("%") ? undefined : verb;
}

function commonHeaders(body: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    accept: "application/json",
    // Browsers keep their own.
    "user-agent": `portcullis-typescript/${VERSION}`,
  };
  if (body !== undefined) headers["content-type"] = "application/json";
  return headers;
}

function minimumHeaders({ policy, entities }: Revision): Record<string, string> {
  return {
    ...(policy === undefined ? {} : { "x-min-policy-revision": String(policy) }),
    ...(entities === undefined ? {} : { "x-min-entities-revision": String(entities) }),
  };
}

/** Returns the JSON of a body. Rejects what JSON has not: it would be left out, or sent as `null`. */
function jsonText(body: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(body, finite);
    if (text !== undefined) return text;
  } catch {
    // A big integer, a circle, NaN or an infinite number.
  }
  throw unsendable("the request cannot be written as JSON");
}

/** Returns a member of a body; throws for NaN and infinite numbers. */
function finite(_: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError("a number is NaN or infinite");
  return value;
}

/** Returns the path of an entity. Segments of dots would lead elsewhere. */
function entityPath(type: string, id: string): string {
  for (const [name, value] of [["type", type], ["id", id]] as const) {
    if (value === "" || value === "." || value === "..") throw unsendable(`\`${value}\` cannot be the ${name} of an entity`);
    if (/\p{Surrogate}/u.test(value)) throw unsendable(`the ${name} of an entity has a half of a pair of surrogates`);
  }
  return `/api/v1/entities/${segment(type)}/${segment(id)}`;
}

/** Escapes a segment of a path: everything but the unreserved characters (RFC 3986, section 2.3). */
function segment(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Reads a page of permissions, and the path of the next one. */
function permissionsPage(answer: Answer): [Permission[], string | undefined] | undefined {
  const body = jsonOf(answer);
  const found = permissionsOf(body);
  if (!found) return undefined;
  const cursor = /<[^>]*[?&]cursor=([^>&]*)[^>]*>\s*;\s*rel="?next"?/.exec(answer.headers.get("link") ?? "")?.[1];
  return [found, cursor === undefined ? undefined : `/api/v1/permissions?cursor=${cursor}`];
}

/** Returns what a function of the caller gives. What it throws is logged, and changes nothing. */
function harmless<V>(told: () => V): V | undefined {
  try {
    return told();
  } catch (error) {
    console.warn("the observer of Portcullis fails", error);
    return undefined;
  }
}

function outcomeOf(value: unknown): Outcome {
  if (!isObject(value) || typeof value["allowed"] !== "boolean") return "ok";
  return value["allowed"] ? "allowed" : "denied";
}

function outcomeOfError(error: unknown): Outcome {
  if (error instanceof UnavailableError) return "unavailable";
  return error instanceof RejectedError ? "rejected" : "aborted";
}
