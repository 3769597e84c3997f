/** Fastify: a `preHandler` that lets a request go on if the service allows it. */

import { isProblem, judge, type Protection } from "./problem.js";
import type { AnyTenant, TenantNames } from "./types.js";

/** What this hook needs of the answer of Fastify. */
export interface FastifyAnswer {
  code(status: number): FastifyAnswer;
  headers(headers: Record<string, string>): FastifyAnswer;
  send(body: string): FastifyAnswer;
}

/**
 * Returns a `preHandler` for a route. Without a subject it answers 401, for a denial 403, and 503 if there is no decision, as
 * `application/problem+json`. Where the type of the request is not said, it is any.
 */
export function protect<R = any, T extends TenantNames = AnyTenant>(of: Protection<R, T>) {
  // Fastify has many types of hooks, from which the compiler would infer the type of the request.
  return async (request: any, answer: FastifyAnswer): Promise<FastifyAnswer | void> => {
    const judged = await judge<R, T>(of, request);
    if (!isProblem(judged)) return;
    return answer.code(judged.status).headers({ ...judged.headers }).send(JSON.stringify(judged.body));
  };
}
