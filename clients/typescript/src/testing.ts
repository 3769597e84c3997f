/** Doubles for tests: a fake in memory, and the real service on a folder. */

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { Portcullis } from "./client.js";
import { DeniedError, UnavailableError } from "./errors.js";
import type { CallOptions, Check, Decision } from "./types.js";

type Answer = "allow" | "deny" | "unavailable";

/** Decides as a test says, and denies everything else. Options of calls change nothing. */
export class FakePortcullis {
  // The last entry that fits counts.
  readonly #entries: { readonly resource: string; readonly subject: string | undefined; readonly answer: Answer }[] = [];
  readonly #calls: Check[] = [];

  /** Allows a resource, for one subject or for all. */
  allow(resource: string, subject?: string): this {
    return this.#add("allow", resource, subject);
  }

  deny(resource: string, subject?: string): this {
    return this.#add("deny", resource, subject);
  }

  /** Makes checks of a resource fail as they do in an outage. */
  unavailable(resource: string, subject?: string): this {
    return this.#add("unavailable", resource, subject);
  }

  /** The checks so far. */
  get calls(): readonly Check[] {
    return this.#calls;
  }

  async check(check: Check, _options?: CallOptions): Promise<Decision> {
    this.#calls.push(check);
    const entry = this.#entries.findLast(
      ({ resource, subject }) => resource === check.resource && (subject === undefined || subject === check.subject),
    );
    if (entry?.answer === "unavailable") {
      throw new UnavailableError({ kind: "connect", message: "the test says so", attempts: 1 });
    }
    const allowed = entry?.answer === "allow";
    return {
      allowed, rule: allowed ? "fake" : "default-deny", reason: "the test says so", revision: undefined, id: undefined,
      requestId: undefined, attempts: 1, unavailable: false,
    };
  }

  async require(check: Check, _options?: CallOptions): Promise<Decision> {
    const decision = await this.check(check);
    if (!decision.allowed) throw new DeniedError(decision);
    return decision;
  }

  async checks(checks: readonly Check[], _options?: CallOptions): Promise<readonly Decision[]> {
    return Promise.all(checks.map((check) => this.check(check)));
  }

  #add(answer: Answer, resource: string, subject: string | undefined): this {
    this.#entries.push({ resource, subject, answer });
    return this;
  }
}

/** `portcullis dev` on a folder of tenants: a test decides as production does. */
export class DevServer {
  readonly #process: ChildProcess;
  readonly #data: string;
  readonly url: string;

  private constructor(process: ChildProcess, data: string, url: string) {
    this.#process = process;
    this.#data = data;
    this.url = url;
  }

  /** Starts the program of `PORTCULLIS_BIN`, or `portcullis`, and waits until it serves. */
  static async start(folder: string): Promise<DevServer> {
    const data = await mkdtemp(join(tmpdir(), "portcullis-"));
    const program = process.env["PORTCULLIS_BIN"] || "portcullis";
    const child = spawn(program, ["dev", folder, "--port", "0", "--data-dir", data], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      return new DevServer(child, data, await addressOf(child, program));
    } catch (error) {
      child.kill();
      await rm(data, { recursive: true, force: true });
      throw error;
    }
  }

  /** Returns a client with the token of a sample user. */
  async client(user: string): Promise<Portcullis> {
    const answer = await fetch(`${this.url}/dev/token?user=${encodeURIComponent(user)}`);
    const token = (await answer.text()).trim();
    if (!answer.ok) throw new Error(`no token of \`${user}\`: ${token}`);
    return new Portcullis({ url: this.url, token });
  }

  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#process.once("exit", () => resolve()));
    if (this.#process.exitCode === null && this.#process.kill()) await ended;
    await rm(this.#data, { recursive: true, force: true });
  }
}

/** Returns the address that the program prints first. */
function addressOf(child: ChildProcess, program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new Error(`cannot start \`${program}\`: ${error.message}`)));
    child.once("exit", (code) => reject(new Error(`\`${program} dev\` ended with ${code}`)));
    if (!child.stdout) return reject(new Error("the program has no output"));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const address = /https?:\/\/[0-9.:[\]a-z]+/.exec(line)?.[0];
      if (address) resolve(address);
    });
  });
}
