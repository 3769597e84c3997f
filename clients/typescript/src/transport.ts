/** Sends a call: attempts, waits, the budget and the credential, all before one deadline. */

import { MAX_ANSWER, TooLarge, readText } from "./body.js";
import { NoToken, type Credential, type Header } from "./credentials.js";
import { EXPIRED, type Deadline } from "./deadline.js";
import { RejectedError, UnavailableError, type Kind } from "./errors.js";
import { isTransient, retryAfter } from "./retry.js";

/** The largest and the first wait between attempts, in milliseconds. */
const LONGEST_WAIT_MS = 250;
const FIRST_WAIT_MS = 25;
/** The further attempts that the budget holds. */
const BUDGET = 10;

/** A request, as every attempt sends it. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the request may be sent again. */
  readonly repeats: boolean;
}

/** A whole answer with a status of 2xx. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly attempts: number;
}

/** Further attempts that an outage may cost. */
export class Budget {
  readonly #refill: number;
  #left = BUDGET;

  constructor(refill: number) {
    this.#refill = refill;
  }

  /** Adds the share of a call. */
  addCall(): void {
    this.#left = Math.min(BUDGET, this.#left + this.#refill);
  }

  /** Takes a further attempt. Returns whether there was one. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

/** A request that failed. */
interface Failure {
  readonly kind: Kind;
  readonly message: string;
  readonly again: boolean;
  readonly status?: number;
  /** The seconds that the service asked to wait. */
  readonly retryAfter?: number | undefined;
}

/** The way to a service. */
export class Transport {
  readonly #url: string;
  readonly #maxAttempts: number;
  readonly #budget: Budget;

  constructor(url: string, maxAttempts: number, retryBudget: number) {
    this.#url = url.replace(/\/+$/, "");
    this.#maxAttempts = maxAttempts;
    this.#budget = new Budget(retryBudget);
  }

  /** Sends a request until there is an answer that counts. Rejects with an error of this package. */
  async send(request: Request, credential: Credential, deadline: Deadline): Promise<Answer> {
    this.#budget.addCall();
    let renewed = false;
    let sent = 0;
    // `tried` counts the attempts without a token, too.
    for (let tried = 1; ; tried += 1) {
      const header = await credentialHeader(credential, deadline, sent);
      let failure: Failure;
      if ("kind" in header) {
        failure = header;
      } else {
        sent += 1;
        const result = await this.#attempt(request, header, deadline);
        if ("text" in result) {
          const answer = { ...result, attempts: sent };
          if (answer.status < 300) return answer;
          if (answer.status === 401 && !renewed && credential.renew(header)) {
            renewed = true;
            continue;
          }
          throw refusal(answer);
        }
        failure = result;
      }
      deadline.throwIfCallerAborted();
      const wait = this.#waitBefore(failure, request, tried, deadline);
      if (wait === undefined) throw new UnavailableError({ ...failure, attempts: sent });
      await waitOrExpire(wait, deadline, sent);
    }
  }

  /** Returns the milliseconds before the next attempt, or `undefined` where there is none. */
  #waitBefore(failure: Failure, request: Request, tried: number, deadline: Deadline): number | undefined {
    if (!failure.again || !request.repeats || tried >= this.#maxAttempts) return undefined;
    const backoff = Math.random() * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tried - 1));
    const wait = failure.retryAfter === undefined ? backoff : failure.retryAfter * 1000;
    if (wait >= deadline.left || !this.#budget.take()) return undefined;
    return wait;
  }

  /** Sends the request once. */
  async #attempt(
    request: Request,
    [name, value]: Header,
    deadline: Deadline,
  ): Promise<Omit<Answer, "attempts"> | Failure> {
    try {
      const answer = await deadline.race(
        fetch(this.#url + request.path, {
          method: request.method,
          headers: { ...request.headers, [name]: value },
          body: request.body ?? null,
          // A redirect could lead the credential elsewhere.
          redirect: "manual",
          signal: deadline.signal,
        }),
      );
      const failure = failureOfStatus(answer);
      if (failure) {
        void answer.body?.cancel().catch(() => undefined);
        return failure;
      }
      const text = await deadline.race(readText(answer, MAX_ANSWER));
      return { status: answer.status, headers: answer.headers, text };
    } catch (error) {
      return failureOf(error, deadline);
    }
  }
}

/** Returns the failure that a status says, if it is one. */
function failureOfStatus(answer: globalThis.Response): Failure | undefined {
  const { status } = answer;
  const message = `the service answers ${status}`;
  if (status === 429 || status >= 500) {
    return { kind: "status", message, again: isTransient(status), status, retryAfter: retryAfter(answer.headers) };
  }
  // A browser shows a redirect that is not followed as status 0.
  if (status < 200 || (status >= 300 && status < 400)) return { kind: "answer", message, again: false, status };
  return undefined;
}

function failureOf(error: unknown, deadline: Deadline): Failure {
  if (error === EXPIRED || deadline.signal.aborted) {
    return { kind: "timeout", message: "no whole answer before the deadline", again: false };
  }
  if (error instanceof TooLarge) return { kind: "answer", message: "the answer is over 16 MiB", again: false };
  const cause = (error as { cause?: { code?: unknown } }).cause?.code;
  // Text that is not UTF-8 is an answer, though not one of the service.
  if (error instanceof TypeError && (error as { code?: unknown }).code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
    return { kind: "answer", message: "the answer is not UTF-8", again: false };
  }
  const why = typeof cause === "string" ? `: ${cause}` : "";
  return { kind: "connect", message: `the connection failed${why}`, again: true };
}

async function credentialHeader(
  credential: Credential,
  deadline: Deadline,
  attempts: number,
): Promise<Header | Failure> {
  try {
    return await deadline.race(credential.header(deadline));
  } catch (error) {
    deadline.throwIfCallerAborted();
    if (error === EXPIRED || deadline.signal.aborted) {
      throw new UnavailableError({ kind: "timeout", message: "no token before the deadline", attempts });
    }
    if (error instanceof NoToken) {
      return { kind: "credential", message: error.message, again: error.again, retryAfter: error.retryAfter };
    }
    const again = failureOf(error, deadline).again;
    return { kind: "credential", message: "the token endpoint cannot be reached", again };
  }
}

async function waitOrExpire(ms: number, deadline: Deadline, attempts: number): Promise<void> {
  try {
    await deadline.wait(ms);
  } catch {
    deadline.throwIfCallerAborted();
    throw new UnavailableError({ kind: "timeout", message: "the deadline is over", attempts });
  }
}

/** Returns the error for a 4xx. */
function refusal(answer: Answer): UnavailableError | RejectedError {
  const { status, attempts } = answer;
  const body = objectOf(answer.text);
  const code = textOf(body["error"]);
  const details = isObject(body["details"]) ? body["details"] : undefined;
  if (status === 409 && code === "REVISION_LOST") {
    return new LostRevision(attempts, details ?? {});
  }
  const message = textOf(body["message"]) ?? `the service answers ${status}`;
  const requestId = answer.headers.get("x-request-id") ?? undefined;
  return new RejectedError({ status, code, message, details, requestId, attempts });
}

/** The service has not the revision any more that the call demands: an older database was put back. */
export class LostRevision extends UnavailableError {
  readonly details: Readonly<Record<string, unknown>>;

  constructor(attempts: number, details: Readonly<Record<string, unknown>>) {
    super({ kind: "revision_lost", message: "the service lost the revision", attempts, status: 409 });
    this.details = details;
  }
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
