// The client of a server.

import { Attempts, authorization, headersOf, isPassing, jsonOf, pause, queryOf } from "./calls.js";
import type { Call, EditOptions, Options } from "./calls.js";
import { answer, lines, ofJson, type Outgoing } from "./exchange.js";
import type { LineImported } from "./generated/models.js";
import { Subjects } from "./generated/subjects.js";
import { LineBody, sentEvents, type Event, type Line } from "./streams.js";

const DEFAULT_URL = "http://127.0.0.1:7480";

// Waits of up to 30 s are part of a request.
const TIMEOUT_MS = 70_000;

// A result comes when 500 lines are written, and they may be made slowly. Node waits no longer either.
const IMPORT_TIMEOUT_MS = 300_000;

// The server sends something every 15 s.
const EVENTS_TIMEOUT_MS = 60_000;

const POSITION = "HTM-WAL-Position";

/** The settings of a client. */
export interface HtmSettings {
  /** Where the server listens. Default: `http://127.0.0.1:7480`. */
  url?: string;
  /** The key of `htm keys create`, or an access token. White space around it is left out. Some servers need none. */
  key?: string | null;
  /** The most repetitions of a call that fails on the way. Default: 4. */
  retries?: number;
  /** The most milliseconds in which nothing of an answer comes. Default: 70,000. */
  timeout?: number;
  /** Sends the requests, for proxies, certificates and tests. Default: that of the platform. */
  fetch?: typeof fetch;
}

/** What an export has. */
export interface ExportOptions extends Options {
  /** Also forgotten memories. */
  forgotten?: boolean;
  /** Also the vectors of the embedding models. */
  vectors?: boolean;
}

/** Where events begin. */
export interface EventOptions extends Options {
  /** The `id` of the last event that was read. Default: events from the moment the first one is requested. */
  after?: string;
}

/**
 * A client of a server.
 *
 * Every operation of the server is a method of its subject: `htm.memories.create({ content: "…" })`. A call that fails
 * on the way is repeated with the same `Idempotency-Key`, so that nothing is done twice.
 */
export class Htm extends Subjects {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #retries: number;
  readonly #timeout: number;
  readonly #fetch: typeof fetch;

  constructor(settings: HtmSettings = {}) {
    super();
    // JavaScript takes a text here, which has no settings.
    if (typeof settings !== "object") throw new TypeError("the settings of a client are an object, as in { url }");
    this.#url = (settings.url ?? DEFAULT_URL).replace(/\/+$/, "");
    this.#headers = authorization(settings.key);
    this.#retries = settings.retries ?? 4;
    this.#timeout = settings.timeout ?? TIMEOUT_MS;
    // Not the function itself, which browsers call as a method of the window only.
    const sent = settings.fetch ?? ((input, init) => fetch(input, init));
    this.#fetch = async (input, init) => {
      const response = await sent(input, init);
      this.#keepPosition(response.headers.get(POSITION));
      return response;
    };
  }

  /** Lets later reads see what was written: a server with read replicas says where a write stands in its log. */
  #keepPosition(position: string | null): void {
    if (position && placeOf(position) > placeOf(this.#headers[POSITION] ?? "0/0")) this.#headers[POSITION] = position;
  }

  /** Sends a call, and again if it fails on the way. */
  override async send<Answer>(call: Call, options: EditOptions = {}): Promise<Answer> {
    const init: RequestInit = { method: call.method, headers: headersOf(call, options) };
    if (call.body) init.body = jsonOf(call.body);
    const request = this.#request(call.path + queryOf(call.query), init, options);
    const attempts = new Attempts(call.mayBeRepeated === false ? 0 : this.#retries);
    for (;;) {
      try {
        return await answer<Answer>(request);
      } catch (error) {
        await attempts.next(error, options.signal);
      }
    }
  }

  /**
   * Imports memories, or an export: a result for each line, as they are written.
   *
   * It can be sent again after an interruption: what is there already is `existing`. At most 100,000 lines.
   */
  async *importLines(
    given: Iterable<Line> | AsyncIterable<Line>,
    options: Options = {},
  ): AsyncGenerator<LineImported, void, undefined> {
    const body = new LineBody(given);
    const init = { method: "POST", headers: { "Content-Type": "application/x-ndjson" }, ...(await body.init()) };
    const request = { ...this.#request("/v1/import", init, options), timeout: IMPORT_TIMEOUT_MS };
    try {
      for await (const line of lines(request)) yield ofJson(line);
    } catch (error) {
      throw body.failure ?? error;
    } finally {
      body.end();
    }
  }

  /**
   * Exports these namespaces, or all that the key sees, line by line. The last line, of the kind `end`, says that it is
   * whole.
   */
  async *exportLines(
    namespaces: readonly string[] = [],
    options: ExportOptions = {},
  ): AsyncGenerator<Record<string, unknown>, void, undefined> {
    const { forgotten, vectors } = options;
    const query = queryOf({ namespace: namespaces, forgotten, vectors });
    for await (const line of lines(this.#request(`/v1/export${query}`, {}, options))) yield ofJson(line);
  }

  /**
   * An endless stream of what happens: from the moment the first event is requested, or after a given event. Once it was
   * connected, it reconnects as often as it has to, and misses nothing.
   */
  async *events(
    namespaces: readonly string[] = [],
    options: EventOptions = {},
  ): AsyncGenerator<Event, void, undefined> {
    let [after, wasConnected] = [options.after, false];
    for (let attempt = 0; ; attempt += 1) {
      let failure;
      try {
        const path = `/v1/events${queryOf({ namespace: namespaces, after })}`;
        const request = { ...this.#request(path, {}, options), timeout: EVENTS_TIMEOUT_MS };
        for await (const sent of sentEvents(lines(request))) {
          [attempt, wasConnected] = [0, true];
          after = sent.id || after;
          // One without an id is at the place of the one before it.
          if (sent.data) yield { ...sent, id: after ?? "", data: ofJson(sent.data) } as Event;
        }
      } catch (error) {
        if ((attempt >= this.#retries && !wasConnected) || !isPassing(error)) throw error;
        failure = error;
      }
      await pause(attempt, failure, options.signal);
    }
  }

  #request(path: string, init: RequestInit, { signal }: Options): Outgoing {
    const headers = { ...this.#headers, ...(init.headers as Record<string, string>) };
    return { fetch: this.#fetch, url: this.#url + path, init: { ...init, headers }, timeout: this.#timeout, signal };
  }
}

/** The bytes before a position in the write-ahead log. */
function placeOf(position: string): bigint {
  const [high, low] = position.split("/");
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}
