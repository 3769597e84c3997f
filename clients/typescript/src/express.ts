/** Express: a handler that lets a request go on if the service allows it. */

import { isProblem, judge, type Protection } from "./problem.js";
import type { AnyTenant, TenantNames } from "./types.js";

/** What this handler needs of the answer of Express. */
export interface ExpressResponse {
  status(code: number): unknown;
  set(headers: Record<string, string>): unknown;
  send(body: string): unknown;
}

/**
 * Returns a handler for a route. Without a subject it answers 401, for a denial 403, and 503 if there is no decision, as
 * `application/problem+json`. Where the type of the request is not said, it is any.
 */
export function protect<R = any, T extends TenantNames = AnyTenant>(of: Protection<R, T>) {
  return async (request: R, response: ExpressResponse, next: (error?: unknown) => void): Promise<void> => {
    try {
      const judged = await judge(of, request);
      if (!isProblem(judged)) return next();
      response.status(judged.status);
      response.set({ ...judged.headers });
      response.send(JSON.stringify(judged.body));
    } catch (error) {
      next(error);
    }
  };
}
