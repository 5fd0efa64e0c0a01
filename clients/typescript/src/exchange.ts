// A request and its answer, which is read at once or as it comes.

import { errorOf, NoProblem, Unreachable } from "./errors.js";

/** A request on its way. */
export interface Outgoing {
  fetch: typeof fetch;
  url: string;
  init: RequestInit;
  /** The most milliseconds in which nothing comes. */
  timeout: number;
  signal: AbortSignal | undefined;
}

/** Sends a request, and reads the JSON of its answer. */
export async function answer<Answer>(request: Outgoing): Promise<Answer> {
  const exchange = new Exchange(request);
  try {
    const response = await exchange.answered();
    return ofJson<Answer>(await exchange.step(response.text()));
  } finally {
    exchange.end();
  }
}

/** Sends a request, and reads its answer line by line. */
export async function* lines(request: Outgoing): AsyncGenerator<string, void, undefined> {
  const exchange = new Exchange(request);
  try {
    const { body } = await exchange.answered();
    if (!body) return;
    const [reader, decoder] = [body.getReader(), new TextDecoder()];
    let rest = "";
    for (;;) {
      const { done, value } = await exchange.step(reader.read());
      const texts = decoder.decode(value, { stream: !done }).split("\n");
      texts[0] = rest + texts[0];
      rest = texts.pop() ?? "";
      for (const line of texts) yield line.replace(/\r$/, "");
      if (done) break;
    }
    if (rest) yield rest;
  } finally {
    exchange.end();
  }
}

/** The value of a JSON text of an answer. */
export function ofJson<Value>(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    throw new NoProblem("the answer is no JSON");
  }
}

/** Ends a request with the signal of its caller, or when nothing comes for its timeout. */
class Exchange {
  readonly #request: Outgoing;
  readonly #controller = new AbortController();
  readonly end = (): void => {
    this.#request.signal?.removeEventListener("abort", this.end);
    this.#controller.abort();
  };

  constructor(request: Outgoing) {
    this.#request = request;
    request.signal?.addEventListener("abort", this.end);
  }

  /** Sends the request. */
  async answered(): Promise<Response> {
    const { fetch, url, init, signal } = this.#request;
    signal?.throwIfAborted();
    // A redirection would make a GET of a POST.
    const response = await this.step(fetch(url, { ...init, redirect: "manual", signal: this.#controller.signal }));
    if (!response.ok) throw errorOf(response, await this.step(response.text()));
    return response;
  }

  /** Waits for a part of the answer. */
  async step<Part>(part: Promise<Part>): Promise<Part> {
    const { timeout, url, signal } = this.#request;
    const timer = setTimeout(() => this.#controller.abort(new Error(`nothing came for ${timeout} ms`)), timeout);
    try {
      return await part;
    } catch (error) {
      signal?.throwIfAborted();
      throw new Unreachable(`no whole answer from ${url.replace(/\?.*/, "")}: ${reason(error)}`, error);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What an error of `fetch` says, which only its cause tells in Node. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reason(error.cause);
  return error.message || ("code" in error ? String(error.code) : error.name);
}
