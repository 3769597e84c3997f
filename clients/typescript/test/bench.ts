/**
 * What a check costs beside the same request by `fetch`, what an outage costs, when calls end, and what stays in memory. `clients/bench` starts the
 * server (`FIXED_URL`) and calls this.
 */

import { Portcullis } from "../src/index.js";

const url = process.env["FIXED_URL"] ?? "";
const PAIRS = 60;
const CALLS = 100;
const check = { subject: "ann", resource: "chart:read", attributes: { resource: { id: "c-17", ward: "w-3" } } };
const portcullis = new Portcullis({ url: `${url}/allow`, serviceKey: "key", timeoutMs: 10_000 });
const body = JSON.stringify({ subject: "ann", resource: "chart:read", action: "read", attributes: check.attributes });
const headers = { "accept": "application/json", "content-type": "application/json", "x-service-api-key": "key", "x-request-id": crypto.randomUUID(), "user-agent": "portcullis-typescript/0.3.0" };

async function bare(): Promise<void> {
  const answer = await fetch(`${url}/allow/api/v1/check`, { method: "POST", headers, body });
  if (((await answer.json()) as { decision: string }).decision !== "allow") throw new Error("no allow");
}

async function client(): Promise<void> {
  if (!(await portcullis.check(check)).allowed) throw new Error("no allow");
}

/** The microseconds of the process and of the clock that calls take. */
interface Cost {
  cpu: number;
  clock: number;
}

async function cost(call: () => Promise<void>): Promise<Cost> {
  const [before, start] = [process.cpuUsage(), performance.now()];
  for (let time = 0; time < CALLS; time += 1) await call();
  const { user, system } = process.cpuUsage(before);
  return { cpu: user + system, clock: (performance.now() - start) * 1000 };
}

const median = (values: number[]): number => values.sort((one, other) => one - other)[values.length >> 1] ?? NaN;

const ratios: Cost[] = [];
for (let pair = -10; pair < PAIRS; pair += 1) {
  // Each is the first in every other pair.
  const first = pair % 2 ? await cost(client) : undefined;
  const other = await cost(bare);
  const own = first ?? (await cost(client));
  if (pair >= 0) ratios.push({ cpu: own.cpu / other.cpu, clock: own.clock / other.clock });
}
const heaps: number[] = [];
for (let part = 0; part < 4; part += 1) {
  for (let time = 0; time < 50; time += 1) await cost(client);
  globalThis.gc?.();
  heaps.push(Math.round(process.memoryUsage().heapUsed / 1024));
}
const count = async (): Promise<number> => Number(await (await fetch(`${url}/count`)).text());
const down = new Portcullis({ url: `${url}/busy`, serviceKey: "key", timeoutMs: 10_000 });
const before = await count();
for (let call = 0; call < 1000; call += 1) await down.check(check).catch(() => undefined);
const more = (await count()) - before - 1000;
const late: number[] = [];
const hanging = new Portcullis({ url: `${url}/hang`, serviceKey: "key", timeoutMs: 100 });
for (let call = 0; call < 40; call += 1) {
  const start = performance.now();
  await hanging.check(check).catch(() => undefined);
  late.push(performance.now() - start - 100);
}
console.log(`typescript: a check costs ${median(ratios.map(({ cpu }) => cpu)).toFixed(2)} × the CPU time and ${median(ratios.map(({ clock }) => clock)).toFixed(2)} × the time of fetch`);
console.log(`typescript: 1000 calls in an outage make ${more} more requests`);
console.log(`typescript: calls end ${median(late).toFixed(1)} ms after their deadline, at the latest ${Math.max(...late).toFixed(1)} ms`);
console.log(`typescript: KiB in use after each 5,000 checks: ${heaps.join(", ")}`);
process.exit(0);
