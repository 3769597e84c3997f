/** What the frameworks share: a decision before a handler, and problem details (RFC 9457) in place of it. */

import type { Portcullis } from "./client.js";
import { RejectedError, UnavailableError } from "./errors.js";
import type { AnyTenant, Check, Decision, TenantNames } from "./types.js";

/** What `protect` takes. `R` is the request of the framework. */
export interface Protection<R, T extends TenantNames = AnyTenant> {
  readonly client: Pick<Portcullis<T>, "check">;
  readonly resource: T["resource"];
  readonly action?: string;
  /** Returns who asks; `undefined` where nobody is signed in. */
  readonly subject: (request: R) => string | undefined;
  readonly attributes?: (request: R) => T["attributes"];
  /** Whether a denial shows its rule and reason to the caller. */
  readonly exposeReason?: boolean;
}

/** An answer in place of the handler. */
export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

const TITLES: Readonly<Record<number, string>> = {
  401: "Unauthorized",
  403: "Forbidden",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** Decides about a request. Returns the problem, or the decision by which the handler may go on. */
export async function judge<R, T extends TenantNames>(of: Protection<R, T>, request: R): Promise<Problem | Decision> {
  const subject = of.subject(request);
  if (subject === undefined || subject === "") return problem(401);
  const check: Check<T> = {
    subject,
    resource: of.resource,
    ...(of.action === undefined ? {} : { action: of.action }),
    ...(of.attributes === undefined ? {} : { attributes: of.attributes(request) }),
  };
  try {
    const decision = await of.client.check(check);
    if (decision.allowed) return decision;
    return problem(403, of.exposeReason ? { rule: decision.rule, reason: decision.reason } : {});
  } catch (error) {
    if (error instanceof UnavailableError) return problem(503, {}, { "retry-after": "1" });
    // The service refuses this application, not its caller.
    if (error instanceof RejectedError) return problem(500);
    throw error;
  }
}

export function isProblem(of: Problem | Decision): of is Problem {
  return "body" in of;
}

function problem(status: number, more: Record<string, unknown> = {}, headers: Record<string, string> = {}): Problem {
  return {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
    body: { type: "about:blank", title: TITLES[status], status, ...more },
  };
}
