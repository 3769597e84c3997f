/** Reads answers. What is not an answer of the service is `undefined`, never an allow. */

import { answeredRevision, isEmpty, revisionText } from "./revisions.js";
import { isObject, textOf, type Answer } from "./transport.js";
import type { Decision, Found, Permission, Plan, RelationCounts, SearchPage } from "./types.js";

/** Returns the JSON of an answer; `undefined` where it is not one JSON text. */
export function jsonOf(answer: Answer): unknown {
  try {
    return JSON.parse(answer.text) as unknown;
  } catch {
    return undefined;
  }
}

export function decisionOf(answer: Answer): Decision | undefined {
  return oneDecision(decidedOf(answer), answer);
}

/** Reads the answer of the legacy check, whose two members must agree. */
export function legacyDecisionOf(answer: Answer): Decision | undefined {
  const body = decidedOf(answer);
  const decision = oneDecision(body, answer);
  return isObject(body) && body["allowed"] === decision?.allowed ? decision : undefined;
}

/** Reads the answer of a batch of `length` checks. */
export function decisionsOf(answer: Answer, length: number): Decision[] | undefined {
  const body = decidedOf(answer);
  const results = isObject(body) ? body["results"] : undefined;
  if (!Array.isArray(results) || results.length !== length) return undefined;
  const decisions = results.map((result: unknown) => oneDecision(result, answer));
  return everyOf(decisions);
}

/** Returns the JSON of an answer with decisions. They come with the status 200 alone. */
function decidedOf(answer: Answer): unknown {
  return answer.status === 200 ? jsonOf(answer) : undefined;
}

function oneDecision(body: unknown, answer: Answer): Decision | undefined {
  if (!isObject(body) || (body["decision"] !== "allow" && body["decision"] !== "deny")) return undefined;
  const revision = answeredRevision(answer.headers);
  return {
    allowed: body["decision"] === "allow",
    rule: textOf(body["matched_rule_id"]),
    reason: textOf(body["reason"]),
    revision: isEmpty(revision) ? undefined : revisionText(revision),
    id: textOf(body["decision_id"]) ?? answer.headers.get("x-decision-id") ?? undefined,
    requestId: answer.headers.get("x-request-id") ?? undefined,
    attempts: answer.attempts,
    unavailable: false,
  };
}

/** Reads a page of permissions. */
export function permissionsOf(body: unknown): Permission[] | undefined {
  if (!isObject(body) || !Array.isArray(body["results"])) return undefined;
  return everyOf(body["results"].map(permissionOf));
}

function permissionOf(of: unknown): Permission | undefined {
  if (!isObject(of)) return undefined;
  const [resource, action, decision] = [of["resource"], of["action"], of["decision"]].map(textOf);
  if (resource === undefined || action === undefined || decision === undefined) return undefined;
  const dependsOn = dependsOnOf(of);
  return dependsOn && { resource, action, decision, ...dependsOn };
}

/** Returns the attributes that a decision depends on, where there are some; `undefined` unless they are a list of texts. */
function dependsOnOf(of: Record<string, unknown>): { readonly dependsOn?: readonly string[] } | undefined {
  const names = of["depends_on"] ?? undefined;
  if (names === undefined) return {};
  return Array.isArray(names) && names.every((name) => typeof name === "string") ? { dependsOn: names } : undefined;
}

export function searchPageOf(body: unknown): SearchPage | undefined {
  if (!isObject(body) || typeof body["complete"] !== "boolean") return undefined;
  const { results, conditional } = body;
  if (!Array.isArray(results) || !Array.isArray(conditional)) return undefined;
  const [found, others] = [everyOf(results.map(foundOf)), everyOf(conditional.map(foundOf))];
  return found && others && { results: found, conditional: others, complete: body["complete"], next: textOf(body["next"]) };
}

function foundOf(of: unknown): Found | undefined {
  const dependsOn = isObject(of) ? dependsOnOf(of) : undefined;
  if (!isObject(of) || !dependsOn) return undefined;
  const { depends_on: _, ...members } = of;
  const texts = Object.entries(members).filter(([, member]) => typeof member === "string");
  return { ...Object.fromEntries(texts), ...dependsOn };
}

export function planOf(body: unknown): Plan | undefined {
  if (!isObject(body) || typeof body["kind"] !== "string") return undefined;
  const sql = body["sql"] ?? undefined;
  const [kind, exact] = [body["kind"], body["exact"] === true];
  if (sql === undefined) return { kind, sql, exact };
  if (!isObject(sql) || typeof sql["text"] !== "string" || !Array.isArray(sql["params"])) return undefined;
  return { kind, sql: { text: sql["text"], params: sql["params"] }, exact };
}

export function countsOf(body: unknown): RelationCounts | undefined {
  if (!isObject(body)) return undefined;
  const { written, unchanged, deleted, absent } = body;
  const counts = [written, unchanged, deleted, absent];
  if (!counts.every(Number.isSafeInteger)) return undefined;
  return { written, unchanged, deleted, absent } as RelationCounts;
}

/** Returns the list, if each item is there. */
function everyOf<T>(items: readonly (T | undefined)[]): T[] | undefined {
  return items.every((item) => item !== undefined) ? (items as T[]) : undefined;
}
