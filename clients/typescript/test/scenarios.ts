/** Runs the scenarios that all clients share. Prints `typescript: N of M scenarios`. */

import { isDeepStrictEqual } from "node:util";

import { DeniedError, Portcullis, RejectedError, UnavailableError } from "../src/index.js";
import type { CallOptions, Options } from "../src/index.js";

type Json = Record<string, unknown>;

interface Step {
  call: string;
  with?: Json;
  options?: Json;
  times?: number;
  at_once?: number;
  expect: Json;
}

interface Scenario {
  name: string;
  client?: Json;
  steps: Step[];
}

const base = process.env["FAKE_URL"];
if (!base) throw new Error("FAKE_URL is missing: run clients/run typescript");

async function get(path: string): Promise<unknown> {
  return (await fetch(base + path)).json();
}

function onUnavailable(of: unknown): Options["onUnavailable"] {
  return of === "allow" ? () => true : (of as "throw" | "deny");
}

/** Leaves out what is undefined, so that defaults count. */
function given<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}

function clientOf(file: string, of: Json): Portcullis {
  const url = `${base}/s/${file}`;
  const credentials = of["client_credentials"] as { client_id: string; client_secret: string } | undefined;
  const tokens = [...((of["token_provider"] as string[] | undefined) ?? [])];
  const cache = of["cache"] as { ttl_ms: number; max_entries?: number } | undefined;
  const hasOther = credentials || tokens.length > 0 || of["token"] !== undefined;
  return new Portcullis(given({
    url,
    serviceKey: (of["service_key"] as string | undefined) ?? (hasOther ? undefined : "key"),
    token: of["token"] as string | undefined,
    tokenProvider: tokens.length > 0 ? () => (tokens.length > 1 ? (tokens.shift() as string) : (tokens[0] as string)) : undefined,
    clientCredentials: credentials && { tokenUrl: `${url}/token`, clientId: credentials.client_id, clientSecret: credentials.client_secret },
    domain: of["domain"] as string | undefined,
    timeoutMs: of["timeout_ms"] as number | undefined,
    maxAttempts: of["max_attempts"] as number | undefined,
    retryBudget: of["retry_budget"] as number | undefined,
    onUnavailable: of["on_unavailable"] === undefined ? undefined : onUnavailable(of["on_unavailable"]),
    cache: cache && given({ ttlMs: cache.ttl_ms, maxEntries: cache.max_entries }),
  }) as Options);
}

function callOptions(of: Json): CallOptions {
  const credential = of["credential"] as { service_key?: string; token?: string } | undefined;
  return given({
    timeoutMs: of["timeout_ms"] as number | undefined,
    revision: of["revision"] as string | undefined,
    onUnavailable: of["on_unavailable"] === undefined ? undefined : onUnavailable(of["on_unavailable"]),
    credential: credential && given({ serviceKey: credential.service_key, token: credential.token }),
  }) as CallOptions;
}

/** Makes the call of a step. */
async function call(client: Portcullis, name: string, of: Json, options: CallOptions): Promise<unknown> {
  const [type, id, body] = [of["type"] as string, of["id"] as string, of["body"] as Json];
  switch (name) {
    case "check": return client.check(of as never, options);
    case "require": return client.require(of as never, options);
    case "checks": return client.checks(of["checks"] as never, options);
    case "access_check": return client.accessCheck(of as never, options);
    case "permissions": return client.permissions(of as never, options);
    case "search_resources": return client.searchResources(of, options);
    case "search_subjects": return client.searchSubjects(of, options);
    case "search_actions": return client.searchActions(of, options);
    case "plan": return client.plan(of, options);
    case "put_entity": return client.putEntity(type, id, body, options);
    case "patch_entity": return client.patchEntity(type, id, body, options);
    case "delete_entity": return client.deleteEntity(type, id, options);
    case "write_relations": return client.writeRelations(of as never, options);
    case "register_resources": return client.registerResources(of["resources"] as never, options);
    case "request": return client.request(of["method"] as string, of["path"] as string, of["body"], options);
    case "revision": return client.revision();
    default: throw new Error(`no call ${name}`);
  }
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns a value with its members in snake_case; those of plain records stay. */
function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== "object" || value === null || value instanceof Headers) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snake(name), shown(member)]));
}

/** Returns the outcome of a call and its members. */
async function outcome(made: Promise<unknown>): Promise<Json> {
  try {
    const value = await made;
    if (Array.isArray(value)) return { outcome: "list", items: shown(value) };
    if (typeof value === "object" && value !== null && "allowed" in value) {
      return { ...(shown(value) as Json), outcome: value.allowed ? "allowed" : "denied", raised: false };
    }
    return { outcome: "value", value: shown(value) };
  } catch (error) {
    if (error instanceof DeniedError) return { ...(shown(error.decision) as Json), outcome: "denied", raised: true };
    if (error instanceof UnavailableError) {
      const { kind, attempts, status, retryAfter } = error;
      return { outcome: "unavailable", kind, attempts, status, retry_after_ms: retryAfter && retryAfter * 1000 };
    }
    if (error instanceof RejectedError) {
      const { status, code, message, attempts, details, requestId } = error;
      return { outcome: "rejected", status, code, message, attempts, details, request_id: requestId };
    }
    throw error;
  }
}

/** Returns whether `whole` has everything of `part`. */
function has(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && whole.length === part.length && part.every((item, at) => has(whole[at], item));
  }
  if (typeof part === "object" && part !== null) {
    const members = whole as Json | undefined;
    return typeof members === "object" && members !== null && Object.entries(part).every(([name, item]) => has(members[name], item));
  }
  // What is absent is not defined in this language.
  return isDeepStrictEqual(whole ?? null, part);
}

async function checkStep(file: string, client: Portcullis, step: Step): Promise<string[]> {
  const { min_ms: least, max_ms: most, tokens, one_request_id: oneId, ...members } = step.expect;
  const start = performance.now();
  const got = await outcome(call(client, step.call, step.with ?? {}, callOptions(step.options ?? {})));
  const took = performance.now() - start;
  const faults = Object.entries(members)
    .filter(([name, value]) => !has(got[name], value))
    .map(([name, value]) => `${name}: expected ${JSON.stringify(value)}, got ${JSON.stringify(got[name])}`);
  if (typeof least === "number" && took < least) faults.push(`took ${took} ms, expected at least ${least}`);
  if (typeof most === "number" && took > most) faults.push(`took ${took} ms, expected at most ${most}`);
  if (tokens !== undefined) {
    const asked = ((await get(`/verdict/${file}`)) as { tokens: number }).tokens;
    if (asked !== tokens) faults.push(`expected ${String(tokens)} tokens, got ${asked}`);
  }
  if (oneId) faults.push(...(await requestIdFaults(file)));
  return faults;
}

async function requestIdFaults(file: string): Promise<string[]> {
  const seen = (await get(`/seen/${file}`)) as { headers: Record<string, string> }[];
  const ids = new Set(seen.map(({ headers }) => headers["x-request-id"]));
  const agents = seen.every(({ headers }) => /^portcullis-typescript\/\d/.test(headers["user-agent"] ?? ""));
  return [...(ids.size === 1 && !ids.has(undefined) ? [] : ["not one request id"]), ...(agents ? [] : ["no user agent"])];
}

async function run(file: string): Promise<string[]> {
  const scenario = (await get(`/scenarios/${file}`)) as Scenario;
  await fetch(`${base}/seen/${file}`, { method: "DELETE" });
  const client = clientOf(file, scenario.client ?? {});
  const faults: string[] = [];
  for (const [number, step] of scenario.steps.entries()) {
    for (let time = 0; time < (step.times ?? 1); time += 1) {
      const together = Array.from({ length: step.at_once ?? 1 }, () => checkStep(file, client, step));
      const found = (await Promise.all(together)).flat();
      faults.push(...found.map((fault) => `step ${number}: ${fault}`));
    }
  }
  const verdict = (await get(`/verdict/${file}`)) as { faults: string[] };
  return [...faults, ...verdict.faults];
}

const files = (await get("/scenarios")) as string[];
let passed = 0;
for (const file of files) {
  const faults = await run(file);
  if (faults.length === 0) passed += 1;
  for (const fault of faults) console.error(`${file}: ${fault}`);
}
console.log(`typescript: ${passed} of ${files.length} scenarios`);
process.exitCode = passed === files.length ? 0 : 1;
