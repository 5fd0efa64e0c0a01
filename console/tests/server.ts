// A server of the test: PostgreSQL, workers and memories of its own, below a directory that is removed afterwards.

import { spawn, type ChildProcess } from "node:child_process";
import { chmod, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../../..");
const PROGRAMS = process.env["HTM_PROGRAMS"] || join(ROOT, "target/debug");
const START_MS = 120_000;

/** The answer of the API to a request. */
export type Api = <T>(path: string, body?: unknown, method?: string) => Promise<T>;

export interface Server {
  url: string;
  api: Api;
  /** Runs `htm` with these arguments on the server's database. Returns what it prints. */
  htm: (...args: string[]) => Promise<string>;
  /** Runs SQL on the server's database. Returns the rows, with `|` between the fields. */
  sql: (text: string) => Promise<string[]>;
  stop: () => Promise<void>;
}

/** Starts `htm up` with the demo's memories. `settings` are `--set` values. */
export async function startServer(...settings: string[]): Promise<Server> {
  const server = await startEmptyServer(...settings);
  const memories = await readFile(join(ROOT, "demo/memories.jsonl"));
  const headers = { "Content-Type": "application/x-ndjson" };
  await (await fetch(`${server.url}/v1/import`, { method: "POST", headers, body: memories })).text();
  const isDone = async (): Promise<boolean> => (await queues(server.api)).every((queue) => queue.due + queue.running === 0);
  await until(isDone, START_MS, () => "the workers did not process the demo's memories");
  return server;
}

/** Starts `htm up` without memories. */
export async function startEmptyServer(...settings: string[]): Promise<Server> {
  const directory = await mkdtemp(join(tmpdir(), "htm-console-"));
  await chmod(directory, 0o755); // as root, PostgreSQL runs as another user
  const url = `http://127.0.0.1:${await freePort()}`;
  const environment = { ...process.env, PATH: `${PROGRAMS}:${process.env["PATH"]}`, HTM_DATA_DIR: join(directory, "data") };
  const set = [`server.listen=${url.slice("http://".length)}`, ...settings].flatMap((setting) => ["--set", setting]);
  const up = spawn(join(PROGRAMS, "htm"), ["up", ...set], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const log = collect(up);
  const api: Api = (path, body, method = body === undefined ? "GET" : "POST") => ask(url + path, body, method);
  await until(async () => (await fetch(`${url}/readyz`)).ok, START_MS, () => `htm up did not start: ${log()}`);
  return {
    url,
    api,
    htm: (...args) => output(spawn(join(PROGRAMS, "htm"), args, { env: environment, stdio: ["ignore", "pipe", "pipe"] })),
    sql: async (text) => {
      // PostgreSQL listens on a socket below its data. This user may be any of its roles.
      const to = ["--host", join(directory, "data/run"), "--username", "postgres", "--dbname", "htm"];
      const how = ["--quiet", "--no-psqlrc", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1", "--command", text];
      const rows = await output(spawn(await psql(), [...to, ...how], { stdio: ["ignore", "pipe", "pipe"] }));
      return rows.split("\n").filter((row) => row !== "");
    },
    stop: async () => {
      up.kill("SIGTERM");
      await new Promise((ended) => up.once("exit", ended));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** `psql`, among the programs of PostgreSQL that the set-up has fetched. */
async function psql(): Promise<string> {
  const home = process.env["HTM_HOME"] || (process.getuid?.() === 0 ? "/var/lib/htm" : join(homedir(), ".local/share/htm"));
  const programs = process.env["HTM_POSTGRES_HOME"] || join(home, "postgres");
  const found = (await readdir(programs, { recursive: true })).find((path) => path.endsWith("bin/psql"));
  if (found === undefined) throw new Error(`there is no psql below ${programs}`);
  return join(programs, found);
}

function queues(api: Api): Promise<{ due: number; running: number }[]> {
  return api("/v1/queues");
}

async function ask<T>(url: string, body: unknown, method: string): Promise<T> {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const answer = await fetch(url, { method, ...init });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${text}`);
  return JSON.parse(text || "null");
}

/** Waits for a condition. A failure to look counts as not yet. */
export async function until(holds: () => Promise<boolean>, milliseconds = 30_000, why = () => "it did not happen"): Promise<void> {
  for (const end = Date.now() + milliseconds; ; ) {
    if (await holds().catch(() => false)) return;
    if (Date.now() > end) throw new Error(why());
    await new Promise((done) => setTimeout(done, 50));
  }
}

function collect(child: ChildProcess): () => string {
  let text = "";
  child.stdout?.on("data", (data: Buffer) => (text += data));
  child.stderr?.on("data", (data: Buffer) => (text += data));
  return () => text.slice(-4_000);
}

async function output(child: ChildProcess): Promise<string> {
  const text = collect(child);
  const code = await new Promise((ended) => child.once("close", ended)); // it may have exited before all is read
  if (code !== 0) throw new Error(text());
  return text();
}

function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const probe = createServer().once("error", failed);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => (address && typeof address === "object" ? found(address.port) : failed(new Error("no port"))));
    });
  });
}
