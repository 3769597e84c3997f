/** The failures of a call: denied, unavailable, or rejected. */

import type { Decision } from "./types.js";

/** Why there is no answer. */
export type Kind = "connect" | "timeout" | "status" | "answer" | "credential" | "revision_lost";

/** Any failure of this client. */
export abstract class PortcullisError extends Error {}

/** A denial, which `require` raises. */
export class DeniedError extends PortcullisError {
  override readonly name = "DeniedError";
  readonly decision: Decision;

  constructor(decision: Decision) {
    super(`denied: ${decision.reason ?? "no reason"}`);
    this.decision = decision;
  }
}

/** There is no decision: the service cannot be reached, is too slow, or does not answer as it should. */
export class UnavailableError extends PortcullisError {
  override readonly name = "UnavailableError";
  readonly kind: Kind;
  /** The number of requests that were sent. */
  readonly attempts: number;
  /** The status of the last answer, if there was one. */
  readonly status: number | undefined;
  /** The seconds that the service asked to wait, if it did. */
  readonly retryAfter: number | undefined;

  constructor(of: { kind: Kind; attempts: number; message: string; status?: number | undefined; retryAfter?: number | undefined }) {
    super(`unavailable (${of.kind}): ${of.message}`);
    this.kind = of.kind;
    this.attempts = of.attempts;
    this.status = of.status;
    this.retryAfter = of.retryAfter;
  }
}

/** The service refuses the request: it is not a denial, and a repeat does not help. */
export class RejectedError extends PortcullisError {
  override readonly name = "RejectedError";
  /** The status of the answer; 0 where the client rejects the call without a request. */
  readonly status: number;
  readonly code: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly requestId: string | undefined;
  readonly attempts: number;

  constructor(of: {
    status: number;
    message: string;
    code?: string | undefined;
    details?: Record<string, unknown> | undefined;
    requestId?: string | undefined;
    attempts: number;
  }) {
    super(of.message);
    this.status = of.status;
    this.code = of.code;
    this.details = of.details ?? {};
    this.requestId = of.requestId;
    this.attempts = of.attempts;
  }
}

/** Returns the error for a call that cannot be sent as it is. */
export function unsendable(message: string): RejectedError {
  return new RejectedError({ status: 0, code: "INVALID_CALL", message, attempts: 0 });
}
