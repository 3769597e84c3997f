/** Tests of what the scenarios cannot see: text forms, doubles, frameworks, and the README. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { inspect, promisify } from "node:util";

import express from "express";
import fastify from "fastify";

import { AllowCache } from "../src/cache.js";
import { Portcullis, RejectedError, UnavailableError, type Check, type Decision } from "../src/index.js";
import { protect as protectExpress } from "../src/express.js";
import { protect as protectFastify } from "../src/fastify.js";
import { retryAfter } from "../src/retry.js";
import { highest, parseRevision, revisionText } from "../src/revisions.js";
import { DevServer, FakePortcullis } from "../src/testing.js";
import { VERSION } from "../src/version.js";

const here = new URL("../../", import.meta.url);

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Starts a server that answers every request so. */
async function serve(answer: (path: string) => [number, string, Record<string, string>?]): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    const [status, body, headers] = answer(request.url ?? "");
    request.resume().on("end", () => response.writeHead(status, { "content-type": "application/json", ...headers }).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const NOWHERE = "http://127.0.0.1:1";
const ALLOW = JSON.stringify({ decision: "allow", matched_rule_id: "r1", reason: "ok" });

test("the client has each operation of the list", () => {
  const list = readFileSync(new URL("../operations.yaml", here), "utf8");
  const operations = [...list.matchAll(/operation: ([a-z_]+)/g)].map(([, name]) => camel(name as string));
  const methods = Object.getOwnPropertyNames(Portcullis.prototype).filter((name) => name !== "constructor");
  assert.deepEqual(methods.sort(), operations.sort());
});

test("no text form has a credential", async () => {
  const { server, url } = await serve(() => [401, JSON.stringify({ error: "UNAUTHORIZED", message: "unknown" })]);
  const clients = [
    new Portcullis({ url, serviceKey: "s3cret" }),
    new Portcullis({ url, token: "s3cret" }),
    new Portcullis({ url, clientCredentials: { tokenUrl: `${url}/token`, clientId: "id", clientSecret: "s3cret" } }),
  ];
  for (const client of clients) {
    const error = await client.check({ subject: "ann", resource: "a:b" }).catch((it: unknown) => it);
    for (const shown of [client, error]) {
      assert.doesNotMatch(inspect(shown, { depth: 9, showHidden: true }) + String(shown) + JSON.stringify(shown), /s3cret/);
    }
  }
  server.close();
});

test("an option that cannot be is refused", () => {
  const url = "http://127.0.0.1:1";
  assert.throws(() => new Portcullis({ url, serviceKey: "a", token: "b" }), /expected one of/);
  assert.throws(() => new Portcullis({ url, serviceKey: "a", cache: { ttlMs: 6000 } }), /cache\.ttlMs/);
});

test("what no call could use is refused at the start", () => {
  for (const url of ["", "127.0.0.1:1", "ftp://a", "http://", "http://u:p@a", "http://a?b", "http://a#b", "http://a:x"]) {
    assert.throws(() => new Portcullis({ url, serviceKey: "a" }), RejectedError, url);
  }
  const clientCredentials = { tokenUrl: "127.0.0.1/token", clientId: "id", clientSecret: "secret" };
  assert.throws(() => new Portcullis({ url: NOWHERE, clientCredentials }), RejectedError);
  for (const bad of [{ timeoutMs: 0 }, { timeoutMs: NaN }, { maxAttempts: 0 }, { retryBudget: -1 }, { cache: { ttlMs: 1, maxEntries: 0 } }]) {
    assert.throws(() => new Portcullis({ url: NOWHERE, serviceKey: "a", ...bad }), RejectedError);
  }
});

test("a credential that no header can hold is refused and not shown", async () => {
  const client = new Portcullis({ url: NOWHERE, serviceKey: "a" });
  for (const secret of ["s3cret\n", "s3cret\u2026", "s3 cret", ""]) {
    const refusals: unknown[] = [];
    for (const options of [{ serviceKey: secret }, { token: secret }]) {
      try {
        refusals.push(new Portcullis({ url: NOWHERE, ...options }));
      } catch (error) {
        refusals.push(error);
      }
      refusals.push(await client.check({ subject: "ann", resource: "a:b" }, { credential: options }).catch((it: unknown) => it));
    }
    for (const refusal of refusals) {
      assert.ok(refusal instanceof RejectedError);
      assert.doesNotMatch(inspect(refusal), /s3 ?cret[^"]/);
    }
  }
});

test("what cannot be sent is rejected without a request", async () => {
  const client = new Portcullis({ url: NOWHERE, serviceKey: "a", cache: { ttlMs: 1000 } });
  const asking = (x: unknown): Promise<unknown> => client.check({ subject: "ann", resource: "a:b", attributes: { resource: { x: x as number } } });
  const circle: unknown[] = [];
  circle.push(circle);
  const calls = [
    asking(NaN), asking(Infinity), asking(1n), asking(circle), client.putEntity("user", "a\ud800", {}), client.request("GET", "/a b"),
    client.request("GET", "/ä"), client.request("GE T", "/"),
  ];
  for (const call of calls) await assert.rejects(call, { name: "RejectedError", attempts: 0 });
});

test("a long deadline does not end at once", async () => {
  const { server, url } = await serve(() => [200, ALLOW]);
  const client = new Portcullis({ url, serviceKey: "a", timeoutMs: 1e12 });
  assert.equal((await client.check({ subject: "ann", resource: "a:b" })).allowed, true);
  server.close();
});

test("more than 10,000 checks are rejected without a request", async () => {
  const client = new Portcullis({ url: "http://127.0.0.1:1", serviceKey: "a" });
  const checks = Array.from({ length: 10_001 }, () => ({ subject: "ann", resource: "a:b" }));
  await assert.rejects(client.checks(checks), { name: "RejectedError", attempts: 0 });
});

test("the end of one call does not end the token of another", async () => {
  const asked: (() => void)[] = [];
  const provider = (): Promise<string> => new Promise((resolve) => asked.push(() => resolve("t")));
  const { server, url } = await serve(() => [200, ALLOW]);
  const client = new Portcullis({ url, tokenProvider: provider, timeoutMs: 10_000 });
  const abort = new AbortController();
  const first = client.check({ subject: "ann", resource: "a:b" }, { signal: abort.signal });
  const second = client.check({ subject: "ann", resource: "a:b" });
  abort.abort();
  await assert.rejects(first);
  while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
  asked[1]?.();
  assert.equal((await second).allowed, true);
  server.close();
});

test("a service that is not there is unavailable", async () => {
  const { server, url } = await serve(() => [200, ALLOW]);
  await new Promise((resolve) => server.close(resolve));
  const client = new Portcullis({ url, serviceKey: "a" });
  await assert.rejects(client.check({ subject: "ann", resource: "a:b" }), (error) => {
    return error instanceof UnavailableError && error.kind === "connect" && error.attempts === 3;
  });
});

test("the signal of a caller ends the call with its reason", async () => {
  const client = new Portcullis({ url: "http://127.0.0.1:1", serviceKey: "a" });
  const reason = new Error("the caller left");
  await assert.rejects(client.check({ subject: "a", resource: "a:b" }, { signal: AbortSignal.abort(reason) }), reason);
});

test("checks of one turn are one request", async () => {
  let requests = 0;
  const results = [{ decision: "allow" }, { decision: "deny" }];
  const { server, url } = await serve((path) => {
    requests += path === "/api/v1/checks" ? 1 : 100;
    return [200, JSON.stringify({ results })];
  });
  const client = new Portcullis({ url, serviceKey: "a", batch: true });
  const asked = ["ann", "bob"].map((subject) => client.check({ subject, resource: "a:b" }));
  assert.deepEqual((await Promise.all(asked)).map(({ allowed }) => allowed), [true, false]);
  assert.equal(requests, 1);
  server.close();
});

test("a fault of one check of a turn is not that of the others", async () => {
  let batches = 0;
  const { server, url } = await serve((path) => {
    batches += path === "/api/v1/checks" ? 1 : 0;
    return path === "/api/v1/checks" ? [400, JSON.stringify({ error: "VALIDATION_FAILED", message: "/checks/1/resource" })] : [200, ALLOW];
  });
  const client = new Portcullis({ url, serviceKey: "a", batch: true });
  const wrong = client.check({ subject: "ann", resource: "a:b", attributes: { resource: { size: NaN } } });
  const right = ["ann", "bob"].map((subject) => client.check({ subject, resource: "a:b" }));
  await assert.rejects(wrong, RejectedError);
  assert.deepEqual((await Promise.all(right)).map((one) => one.allowed), [true, true]);
  assert.equal(batches, 1);
  server.close();
});

test("checks of one turn are kept", async () => {
  const { server, url } = await serve(() => [200, JSON.stringify({ results: [{ decision: "allow" }] })]);
  const client = new Portcullis({ url, serviceKey: "a", batch: true, cache: { ttlMs: 5000 } });
  const ask = async (): Promise<number> => (await client.check({ subject: "ann", resource: "a:b" })).attempts;
  assert.deepEqual([await ask(), await ask()], [1, 0]);
  server.close();
});

test("an observer adds headers and learns the end", async () => {
  const { server, url } = await serve(() => [200, ALLOW]);
  const ended: string[] = [];
  const observer = {
    start: (operation: string) => ({ headers: { traceparent: "00-1-2-01" }, end: (it: string) => ended.push(`${operation} ${it}`) }),
  };
  await new Portcullis({ url, serviceKey: "a", observer }).check({ subject: "ann", resource: "a:b" });
  assert.deepEqual(ended, ["check allowed"]);
  server.close();
});

test("an observer is told once of each call", async () => {
  let requests = 0;
  const { server, url } = await serve((path) => {
    requests += 1;
    const next = path === "/api/v1/permissions" ? { link: '<?cursor=a>; rel="next"' } : {};
    return [200, path.startsWith("/api/v1/permissions") ? JSON.stringify({ results: [] }) : ALLOW, next];
  });
  const ended: string[] = [];
  const observer = { start: (operation: string) => ({ end: (it: string) => ended.push(`${operation} ${it}`) }) };
  const client = new Portcullis({ url, serviceKey: "a", observer, cache: { ttlMs: 5000 } });
  await client.permissions();
  await client.check({ subject: "ann", resource: "a:b" });
  assert.equal((await client.check({ subject: "ann", resource: "a:b" })).attempts, 0);
  assert.deepEqual(ended, ["permissions ok", "check allowed", "check allowed"]);
  assert.equal(requests, 3);
  server.close();
});

test("faults of an observer change nothing", async (context) => {
  const warned = context.mock.method(console, "warn", () => undefined);
  const fails = (): never => {
    throw new Error("a fault of the test");
  };
  const { server, url } = await serve(() => [200, ALLOW]);
  for (const observer of [{ start: fails }, { start: () => ({ end: fails }) }]) {
    assert.equal((await new Portcullis({ url, serviceKey: "a", observer }).check({ subject: "ann", resource: "a:b" })).allowed, true);
  }
  assert.equal(warned.mock.callCount(), 2);
  server.close();
});

test("a date in another text is no Retry-After", () => {
  const read = (text: string): number | undefined => retryAfter(new Headers({ "retry-after": text }));
  assert.equal(read("Sun, 06 Nov 1994 08:49:37 GMT"), 0);
  assert.equal(read(" 7 "), 7);
  for (const text of ["never before 9 Dec 2099 GMT", "-1", ""]) assert.equal(read(text), undefined);
});

test("revisions join by the higher part", () => {
  const joined = (one: string, other: string): string => revisionText(highest(parseRevision(one), parseRevision(other)));
  for (const [one, other, expected] of [["7/3", "5/9", "7/9"], ["/3", "5/", "5/3"], ["", "x/y", "/"]] as const) {
    assert.equal(joined(one, other), expected);
  }
});

test("the cache drops its oldest entry and has a bound", () => {
  const cache = new AllowCache(1000, 2);
  const decision = { allowed: true, attempts: 1 } as Decision;
  for (const key of ["a", "b", "c"]) cache.put(key, decision);
  assert.deepEqual(["a", "b", "c"].map((key) => cache.get(key)?.allowed), [undefined, true, true]);
  cache.answered({ policy: 8, entities: undefined });
  cache.put("old", { ...decision, revision: "7/" });
  assert.equal(cache.get("old"), undefined);
});

test("the fake decides as told and denies the rest", async () => {
  const fake = new FakePortcullis().allow("a:b").deny("a:b", "bob").unavailable("c:d");
  const allowed = async (subject: string, resource: string): Promise<boolean> => (await fake.check({ subject, resource })).allowed;
  assert.deepEqual([await allowed("ann", "a:b"), await allowed("bob", "a:b"), await allowed("ann", "x:y")], [true, false, false]);
  await assert.rejects(fake.require({ subject: "ann", resource: "c:d" }), UnavailableError);
  assert.equal(fake.calls.length, 4);
  const relations = [{ object: "doc:1", relation: "viewer", subject: "user:ann" }];
  await fake.check({ subject: "ann", resource: "a:b", relations });
  assert.deepEqual(fake.calls[4], { subject: "ann", resource: "a:b", relations });
});

const STATUSES = [["ann", 200], ["bob", 403], ["zoe", 503], ["", 401]] as const;

function double(): FakePortcullis {
  return new FakePortcullis().allow("a:b", "ann").unavailable("a:b", "zoe");
}

test("Express answers by the decision", async () => {
  const fake = double();
  const app = express();
  const subject = (request: express.Request): string | undefined => request.get("x-user");
  app.get("/", protectExpress({ client: fake, resource: "a:b", subject }), (_, response) => void response.send("shown"));
  const server = app.listen(0);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (const [user, status] of STATUSES) {
    const answer = await fetch(url, { headers: { "x-user": user } });
    assert.equal(answer.status, status);
    const type = answer.headers.get("content-type") ?? "";
    assert.equal(type.startsWith("application/problem+json"), status !== 200, type);
    assert.equal(answer.headers.get("retry-after"), status === 503 ? "1" : null);
    assert.doesNotMatch(await answer.text(), /test says so|default-deny/);
  }
  server.close();
});

test("Fastify answers by the decision", async () => {
  const fake = double();
  const app = fastify();
  const preHandler = protectFastify({
    client: fake, resource: "a:b",
    subject: (request: { headers: Record<string, unknown> }) => request.headers["x-user"] as string | undefined,
    attributes: () => ({ resource: { id: "c-17" } }),
  });
  app.get("/", { preHandler }, () => "shown");
  for (const [user, status] of STATUSES) {
    const answer = await app.inject({ url: "/", headers: { "x-user": user } });
    assert.equal(answer.statusCode, status);
    assert.equal(answer.headers["retry-after"], status === 503 ? "1" : undefined);
  }
  assert.deepEqual((fake.calls[0] as Check).attributes, { resource: { id: "c-17" } });
  await app.close();
});

test("names of a tenant are checked by the compiler", () => {
  // As `portcullis types --lang ts` writes them.
  interface User {
    "team"?: string;
  }
  interface Chart {
    "ward"?: string;
  }
  interface Tenant {
    resource: "chart:read";
    attributes: { user?: User & { "roles"?: string[] }; resource?: Chart & { "id"?: string; "type"?: string } };
  }
  const client = new Portcullis<Tenant>({ url: "http://127.0.0.1:1", serviceKey: "a" });
  const wrong = (): void => {
    // @ts-expect-error No such resource.
    void client.check({ subject: "ann", resource: "chart:raed" });
    // @ts-expect-error No such attribute.
    void client.check({ subject: "ann", resource: "chart:read", attributes: { resource: { wrad: "er" } } });
    // @ts-expect-error Another type.
    void client.check({ subject: "ann", resource: "chart:read", attributes: { user: { team: 1 } } });
    void client.check({ subject: "ann", resource: "chart:read", attributes: { user: { team: "a", roles: ["b"] }, resource: { ward: "er", id: "c-17" } } });
    protectExpress({ client, resource: "chart:read", subject: () => "ann", attributes: () => ({ resource: { ward: "er" } }) });
    // @ts-expect-error No such attribute.
    protectExpress({ client, resource: "chart:read", subject: () => "ann", attributes: () => ({ resource: { wrad: "er" } }) });
  };
  assert.equal(typeof wrong, "function");
});

test("the version is the one of the package", () => {
  const { version } = JSON.parse(readFileSync(new URL("package.json", here), "utf8")) as { version: string };
  assert.equal(version, VERSION);
});

test("the first example of the README runs", async () => {
  const example = /```ts\n([^`]*)```/.exec(readFileSync(new URL("README.md", here), "utf8"))?.[1] ?? "";
  const { server, url } = await serve(() => [200, ALLOW]);
  const program = example
    .replace("@portcullis/client", new URL("build/src/index.js", here).href)
    .replace("http://127.0.0.1:8080", url);
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  assert.equal(stdout, "allowed\n");
  server.close();
});

const binary = process.env["PORTCULLIS_BIN"];

test("the real service decides", { skip: binary && existsSync(binary) ? false : "SKIPPED: PORTCULLIS_BIN names no program" }, async () => {
  const server = await DevServer.start(new URL("../../policies/hospital", here).pathname);
  try {
    const client = await server.client("patient-4711");
    const isAllowed = async (patient: string): Promise<boolean> => {
      const check = { subject: "patient-4711", resource: "chart:read", attributes: { resource: { patient_id: patient } } };
      return (await client.check(check, { timeoutMs: 10_000 })).allowed;
    };
    assert.deepEqual([await isAllowed("patient-4711"), await isAllowed("patient-1")], [true, false]);
  } finally {
    await server.close();
  }
});
