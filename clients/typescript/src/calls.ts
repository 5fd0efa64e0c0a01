// A call of the server: its request, and whether and when it is repeated.

import { HtmError, Unreachable, type Code } from "./errors.js";

/** What concerns a request and not its subject. */
export interface Options {
  /** Ends the request. Its promise is rejected with the reason of the signal. */
  signal?: AbortSignal;
}

/** The options of a write. */
export interface WriteOptions extends Options {
  /** The key under which the server does this once. Default: a key for each call. */
  idempotencyKey?: string;
}

/** The options of a write to a text that others may edit. */
export interface EditOptions extends WriteOptions {
  /** The revision that was read. If the text has another one by now, the code is `revision_conflict`. */
  ifRevision?: number;
}

/** A request. */
export interface Call {
  method: string;
  path: string;
  /** The parameters of the query. Null and undefined are not sent, and each item of an array is. */
  query?: object;
  body?: object;
  takesKey?: boolean;
  mayBeRepeated?: boolean;
}

/** Sends calls. */
export interface Sender {
  send<Answer>(call: Call, options?: EditOptions): Promise<Answer>;
}

// The characters that a header can carry and the server accepts in a key.
const VISIBLE = /^[!-~]+$/;

const MAX_OPERATION = 255;

const MAX_PAUSE_MS = 30_000;

// The server could not take the request: nothing is done, or a key makes a repetition safe.
const REPEATED_STATUSES: ReadonlySet<number | undefined> = new Set([408, 429, 502, 503, 504]);

// The first request with the same key is still in hand. Its answer is waited for, which is no repetition.
const OPEN: Code = "operation_open";

// The time for which it is.
const OPEN_FOR_MS = 600_000;

/** The path of a template, with its parts encoded. */
export function path(texts: TemplateStringsArray, ...parts: (string | number)[]): string {
  return String.raw(texts, ...parts.map(encoded));
}

function encoded(part: string | number): string {
  // The URL standard resolves dots, even encoded ones: the request would go to another path.
  if (/^\.{0,2}$/.test(`${part}`)) throw new TypeError(`a path cannot have the part \`${part}\``);
  try {
    return encodeURIComponent(part);
  } catch {
    const detail = `the part ${JSON.stringify(part)} of a path has half of a pair of surrogates`;
    throw new HtmError("path_invalid", detail, { hint: "remove or replace it" });
  }
}

/** The JSON of a value. `JSON.stringify` makes null of numbers that are not finite, and of invalid dates. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, name: string, made: unknown) {
    const given = this[name];
    const number = given instanceof Date ? given.getTime() : given;
    if (typeof number === "number" && !Number.isFinite(number)) throw new TypeError(`\`${name}\` cannot be ${given}`);
    return made;
  });
}

/** The query of a URL, with its question mark. */
export function queryOf(fields: object = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const item of [value].flat()) {
      if (item !== null && item !== undefined) query.append(name, String(item));
    }
  }
  const text = query.toString();
  return text && `?${text}`;
}

/** The header of a key, which the error of one that is none does not show. */
export function authorization(key?: string | null): Record<string, string> {
  // A file of a key ends with a line feed.
  const given = (key ?? "").trim();
  if (!given) return {};
  if (!VISIBLE.test(given)) {
    const hint = "give it as `htm keys create` printed it";
    throw new HtmError("api_key_invalid", "the key has other than visible ASCII characters", { hint });
  }
  return { Authorization: `Bearer ${given}` };
}

/** The headers of a call, for all of its attempts. */
export function headersOf(call: Call, options: EditOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  if (call.body) headers["Content-Type"] = "application/json";
  if (call.takesKey) headers["Idempotency-Key"] = operation(options.idempotencyKey ?? randomUuid());
  if (options.ifRevision !== undefined) headers["If-Match"] = `"${options.ifRevision}"`;
  return headers;
}

function operation(key: string): string {
  if (VISIBLE.test(key) && key.length <= MAX_OPERATION) return key;
  const given = JSON.stringify(key.slice(0, 50));
  const detail = `the idempotency key ${given} is not 1 to ${MAX_OPERATION} visible ASCII characters`;
  throw new HtmError("operation_invalid", detail, { hint: "use a UUID" });
}

/** A UUID of version 4. Browsers have `crypto.randomUUID` over TLS and on their own machine only. */
function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Whether the same request may succeed in a moment. */
export function isPassing(error: unknown): error is HtmError {
  return (
    error instanceof Unreachable ||
    (error instanceof HtmError && REPEATED_STATUSES.has(error.status))
  );
}

/** The attempts of a call. */
export class Attempts {
  #repeated = 0;
  readonly #repetitions: number;
  readonly #openUntil = performance.now() + OPEN_FOR_MS;

  constructor(repetitions: number) {
    this.#repetitions = repetitions;
  }

  /** Waits for the next attempt, or throws the failure again if there is none. */
  async next(failure: unknown, signal?: AbortSignal): Promise<void> {
    if (failure instanceof HtmError && failure.code === OPEN && performance.now() < this.#openUntil) {
      return pause(0, failure, signal);
    }
    if (this.#repeated >= this.#repetitions || !isPassing(failure)) throw failure;
    this.#repeated += 1;
    return pause(this.#repeated - 1, failure, signal);
  }
}

/** Waits before the next attempt: as long as the server asks for, or twice as long each time, partly at random. */
export async function pause(attempt: number, failure?: HtmError, signal?: AbortSignal): Promise<void> {
  const asked = failure?.retryAfter;
  const time = asked === undefined ? 100 * 2 ** attempt * (0.5 + Math.random() / 2) : asked * 1000;
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(done, Math.min(time, MAX_PAUSE_MS));
    signal?.addEventListener("abort", done);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    }
  });
}
