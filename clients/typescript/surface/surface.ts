/** Names every public signature as programs of others do: that it compiles is the test. */

import {
  DeniedError, Portcullis, PortcullisError, RejectedError, UnavailableError, type Attributes, type CallOptions, type Check, type Decision,
  type Entity, type Observer, type OnUnavailable, type Options, type Permission, type Plan, type Relation, type RelationCounts,
  type Resource, type SearchPage,
} from "@portcullis/client";
import { protect as protectExpress } from "@portcullis/client/express";
import { protect as protectFastify } from "@portcullis/client/fastify";
import { DevServer, FakePortcullis } from "@portcullis/client/testing";
import express from "express";
import fastify from "fastify";

const decides: OnUnavailable = (failure: UnavailableError): boolean => failure.kind === "timeout";
const observer: Observer = { start: () => ({ headers: { traceparent: "00-1-2-01" }, end: (outcome) => void outcome }) };
const every: Options[] = [
  { url: "http://127.0.0.1:1", serviceKey: "k", domain: "er", timeoutMs: 1000, maxAttempts: 3, retryBudget: 0.1, onUnavailable: "throw" },
  { token: "t", onUnavailable: "deny", cache: { ttlMs: 5000 } },
  { tokenProvider: () => "t", onUnavailable: decides, cache: { ttlMs: 5000, maxEntries: 10 }, batch: true, observer },
  { tokenProvider: async () => "t" },
  { clientCredentials: { tokenUrl: "http://127.0.0.1:1/token", clientId: "id", clientSecret: "secret" } },
  { clientCredentials: { tokenUrl: "http://127.0.0.1:1/token", clientId: "id", clientSecret: "secret", scope: "s" } },
];
const options: CallOptions[] = [
  { timeoutMs: 1000, revision: "7/3", onUnavailable: "deny", credential: { serviceKey: "k" }, signal: AbortSignal.timeout(1) },
  { credential: { token: "t" } },
];
const relation: Relation = { object: "doc:1", relation: "viewer", subject: "user:ann" };
const attributes: Attributes = { user: { team: "a" }, resource: { id: "c-17", tags: ["a"] }, action: { n: 1 }, context: { ok: true } };
const check: Check = { subject: "ann", resource: "chart:read", action: "read", domain: "er", attributes, expected: "allow", relations: [relation] };

export async function calls(client: Portcullis, of?: CallOptions): Promise<unknown[]> {
  const decision: Decision = await client.check(check, of);
  const { allowed, rule, reason, revision, id, requestId, attempts, unavailable } = decision;
  const flags: boolean[] = [allowed, unavailable];
  const texts: (string | undefined)[] = [rule, reason, revision, id, requestId];
  const number: number = attempts;
  const required: Decision = await client.require(check, of);
  const decisions: readonly Decision[] = await client.checks([check] as const, of);
  const legacy: Decision = await client.accessCheck({ resource: "chart:read", subject: "ann" }, of);
  await client.accessCheck({ resource: "chart:read" });
  const permissions: readonly Permission[] = await client.permissions({ subject: "ann" }, of);
  await client.permissions();
  const dependsOn: readonly string[] | undefined = permissions[0]?.dependsOn;
  const page: SearchPage = await client.searchResources({ subject: "ann" }, of);
  await client.searchSubjects({ resource: "chart:read" }, of);
  await client.searchActions({ subject: "ann" }, of);
  const next: string | undefined = page.next;
  const plan: Plan = await client.plan({ subject: "ann", dialect: "postgres" }, of);
  const sql: string | undefined = plan.sql?.text;
  const entity: Entity = await client.putEntity("doc", "1", { properties: {} }, of);
  await client.patchEntity("doc", "1", {}, of);
  const nothing: void = await client.deleteEntity("doc", "1", of);
  const counts: RelationCounts = await client.writeRelations({ write: [relation], delete: [relation] }, of);
  await client.writeRelations({});
  const resources: Resource[] = await client.registerResources([{ name: "doc:read", displayName: "Read", serviceName: "docs", defaultRoles: ["clerk"] }], of);
  const answer: { status: number; headers: Headers; json: unknown } = await client.request("GET", "/api/v1/roles");
  await client.request("POST", "/api/v1/check", check, of);
  const remembered: string = client.revision();
  return [flags, texts, number, required, decisions, legacy, dependsOn, next, sql, page.complete, page.results[0]?.id, page.conditional, plan.exact,
    plan.kind, entity.id, nothing, counts.written + counts.unchanged + counts.deleted + counts.absent, resources, answer, remembered];
}

export function failures(error: unknown): unknown[] {
  if (error instanceof DeniedError) return [error.decision.reason];
  if (error instanceof UnavailableError) return [`${error.kind}`, error.attempts, error.status, error.retryAfter];
  if (error instanceof RejectedError) return [error.status, error.code, error.message, error.details, error.requestId, error.attempts];
  return [error instanceof PortcullisError];
}

export async function doubles(folder: string): Promise<void> {
  const fake = new FakePortcullis().allow("a:b").allow("a:b", "ann").deny("a:b").deny("a:b", "ann").unavailable("a:b").unavailable("a:b", "ann");
  await fake.check(check, options[0]);
  await fake.require(check, options[0]);
  await fake.checks([check], options[0]);
  const asked: readonly Check[] = fake.calls;
  const server: DevServer = await DevServer.start(folder);
  const client: Portcullis = await server.client("ann");
  const url: string = server.url;
  await server.close();
  handlers(fake);
  handlers(client);
  void [asked, url];
}

function handlers(client: Portcullis | FakePortcullis): void {
  const app = express();
  app.get("/:id", protectExpress({
    client, resource: "chart:read", action: "read", subject: (req) => req.get("x-user"), attributes: (req) => ({ resource: { id: String(req.params.id) } }),
  }), (_, answer) => void answer.send("shown"));
  app.get("/", protectExpress({ client, resource: "chart:read", subject: () => undefined }));
  const server = fastify();
  server.get("/", { preHandler: protectFastify({ client, resource: "chart:read", action: "read", subject: (req) => req.headers["x-user"] as string | undefined }) }, () => "shown");
  server.get("/:id", { preHandler: [protectFastify({ client, resource: "chart:read", subject: () => "ann", attributes: () => ({ resource: { id: "1" } }) })] }, () => "shown");
}

interface Tenant {
  resource: "chart:read";
  attributes: { resource?: { ward: string } };
}

export const clients = [...every.map((one) => new Portcullis(one)), new Portcullis()];
export const narrow = new Portcullis<Tenant>({ url: "http://127.0.0.1:1", serviceKey: "k" });
export const narrowHandler = protectExpress({ client: narrow, resource: "chart:read", subject: (req: express.Request) => req.get("x-user") });
