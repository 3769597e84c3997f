/** Fastify: a `preHandler` that lets a request go on if the service allows it. */

import { isProblem, judge, type Protection } from "./problem.js";
import type { AnyTenant } from "./types.js";

/** What this hook needs of the answer of Fastify. */
export interface FastifyAnswer {
  code(status: number): FastifyAnswer;
  headers(headers: Record<string, string>): FastifyAnswer;
  send(body: string): FastifyAnswer;
}

/**
 * Returns a `preHandler` for a route. Without a subject it answers 401, for a denial 403, and 503 if there is no decision, as
 * `application/problem+json`.
 */
export function protect<R, T extends AnyTenant = AnyTenant>(of: Protection<R, T>) {
  return async (request: R, answer: FastifyAnswer): Promise<FastifyAnswer | void> => {
    const judged = await judge(of, request);
    if (!isProblem(judged)) return;
    return answer.code(judged.status).headers({ ...judged.headers }).send(JSON.stringify(judged.body));
  };
}
