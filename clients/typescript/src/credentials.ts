/** Credentials: each adds its header to a request. None of them is ever in a text form. */

import { unsendable } from "./errors.js";
import { isAddress } from "./address.js";
import { MAX_ANSWER, readText } from "./body.js";
import type { Deadline } from "./deadline.js";
import { isTransient, retryAfter } from "./retry.js";
import type { CallCredential, Options } from "./types.js";

/** Tokens are renewed so long before their end. */
const RENEWED_BEFORE_MS = 30_000;

export interface Credential {
  /** Tells entries of the cache apart. It is never shown. */
  readonly identity: object | string;
  /** Returns the header of the credential. Rejects where there is no token to be had. */
  header(deadline: Deadline): Promise<Header>;
  /** Forgets a header that the service refused. Returns whether there may be another one. */
  renew(refused: Header): boolean;
}

export type Header = readonly [name: string, value: string];

/** There is no token to be had. The message has no part of the credential. */
export class NoToken extends Error {
  /** Whether a further attempt may get one. */
  readonly again: boolean;
  /** The seconds that the token endpoint asked to wait. */
  readonly retryAfter: number | undefined;

  constructor(message: string, again = false, retryAfter?: number) {
    super(message);
    this.again = again;
    this.retryAfter = retryAfter;
  }
}

/** Returns the credential of a client. */
export function credentialOf(options: Options): Credential {
  const given = [options.serviceKey, options.token, options.tokenProvider, options.clientCredentials];
  const count = given.filter((it) => it !== undefined && it !== null).length;
  if (count > 1) throw unsendable("expected one of `serviceKey`, `token`, `tokenProvider` and `clientCredentials`");
  if (isGiven(options.token)) return fixed("authorization", options.token, "Bearer ");
  if (options.tokenProvider) return new Renewed(provided(options.tokenProvider));
  if (options.clientCredentials) {
    if (!isAddress(options.clientCredentials.tokenUrl)) throw unsendable("expected a `tokenUrl` of http or https");
    return new Renewed(clientCredentials(options.clientCredentials));
  }
  const key = options.serviceKey ?? environment("PORTCULLIS_SERVICE_KEY");
  if (key === undefined) throw unsendable("expected a credential: `serviceKey`, or the variable PORTCULLIS_SERVICE_KEY");
  return fixed("x-service-api-key", key);
}

/** Returns the credential of a call. */
export function callCredential(of: CallCredential): Credential {
  if (isGiven(of.serviceKey)) return fixed("x-service-api-key", of.serviceKey);
  if (isGiven(of.token)) return fixed("authorization", of.token, "Bearer ");
  throw unsendable("expected `serviceKey` or `token` in `credential`");
}

/** Returns a variable of the environment, where there is one. */
export function environment(name: string): string | undefined {
  return typeof process === "undefined" ? undefined : process.env[name] || undefined;
}

/** Programs in JavaScript also say `null` for what is absent. */
function isGiven(text: string | null | undefined): text is string {
  return text !== undefined && text !== null;
}

/** Returns whether a header can hold the text. An error of what sends it would show it. */
function isHoldable(text: unknown): text is string {
  return typeof text === "string" && /^[!-~]+$/.test(text);
}

function fixed(name: string, secret: string, scheme = ""): Credential {
  if (!isHoldable(secret)) throw unsendable("no header can hold the credential");
  const value = scheme + secret;
  // A closure holds the secret: an object with a field would show it in logs.
  return {
    identity: `${name} ${value}`,
    header: () => Promise.resolve([name, value] as const),
    renew: () => false,
  };
}

/** A token and the time of its end, by the monotonic clock. */
interface Token {
  readonly text: string;
  readonly end: number;
}

/** Gets a token. */
type Source = (deadline: Deadline) => Promise<Token>;

/** A token that is got when it is needed, once for all who wait. */
class Renewed implements Credential {
  readonly identity = {};
  readonly #source: Source;
  #token: Token | undefined;
  #flight: Flight | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  async header(deadline: Deadline): Promise<Header> {
    const token = this.#token;
    if (token && token.end - RENEWED_BEFORE_MS > performance.now()) return bearer(token);
    const flight = (this.#flight ??= { token: this.#get(deadline), deadline });
    try {
      return bearer(await flight.token);
    } catch (error) {
      // Another call's deadline, or its caller, has ended the flight: that says nothing to this one.
      if (flight.deadline === deadline || !flight.deadline.signal.aborted || deadline.signal.aborted) throw error;
      return this.header(deadline);
    }
  }

  renew(refused: Header): boolean {
    // Another call may have a new one already.
    if (this.#token && bearer(this.#token)[1] === refused[1]) this.#token = undefined;
    return true;
  }

  async #get(deadline: Deadline): Promise<Token> {
    try {
      this.#token = await deadline.race(this.#source(deadline));
      return this.#token;
    } finally {
      this.#flight = undefined;
    }
  }
}

/** A request for a token, and the deadline of the call that began it. */
interface Flight {
  readonly token: Promise<Token>;
  readonly deadline: Deadline;
}

function bearer(token: Token): Header {
  return ["authorization", `Bearer ${token.text}`];
}

function provided(provider: () => string | Promise<string>): Source {
  return async () => {
    let text: unknown;
    try {
      text = await provider();
    } catch {
      throw new NoToken("the provider of tokens fails");
    }
    if (!isHoldable(text)) throw new NoToken("the provider gave no usable token");
    return { text, end: Infinity };
  };
}

function clientCredentials(of: NonNullable<Options["clientCredentials"]>): Source {
  return async (deadline) => {
    const body = new URLSearchParams({ grant_type: "client_credentials" });
    if (of.scope !== undefined) body.set("scope", of.scope);
    const pair = `${encodeURIComponent(of.clientId)}:${encodeURIComponent(of.clientSecret)}`;
    const answer = await fetch(of.tokenUrl, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(pair)}`, "content-type": "application/x-www-form-urlencoded" },
      body: body.toString(),
      redirect: "manual",
      signal: deadline.signal,
    });
    const text = await readText(answer, MAX_ANSWER);
    if (answer.status !== 200) {
      throw new NoToken(`the token endpoint answers ${answer.status}`, isTransient(answer.status), retryAfter(answer.headers));
    }
    return token(text);
  };
}

/** Reads the answer of a token endpoint (RFC 6749, section 5.1). */
function token(text: string): Token {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new NoToken("the token endpoint does not answer with JSON");
  }
  const { access_token: access, expires_in: seconds } = (answer ?? {}) as Record<string, unknown>;
  if (!isHoldable(access)) throw new NoToken("the token endpoint gives no usable `access_token`");
  const life = typeof seconds === "number" && seconds >= 0 ? seconds * 1000 : 0;
  return { text: access, end: performance.now() + life };
}
