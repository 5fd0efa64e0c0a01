// Bodies that are sent and answers that are read as they come: imports and events.

import { jsonOf } from "./calls.js";
import type * as models from "./generated/models.js";

/** A line of an import: an object, or its JSON. */
export type Line = object | string;

/** The jobs of a queue by state; each count stops at 10,000. */
export interface QueueDepth {
  queue: string;
  due: number;
  waiting: number;
  parked: number;
  running: number;
  dead: number;
}

/** Something that happened. */
export type Event =
  | {
      /** What kind of event it is. A newer server may have more. */
      kind: models.EventKind;
      /** Its place; `events(namespaces, { after })` goes on there. */
      id: string;
      data: models.Event;
    }
  | { kind: "queue.depth"; id: string; data: QueueDepth };

/** A server-sent event. */
export interface Sent {
  kind: string;
  id: string;
  data: string;
}

/** Reads server-sent events. One without data tells its id only. */
export async function* sentEvents(lines: AsyncIterable<string>): AsyncGenerator<Sent, void, undefined> {
  let [kind, id, data] = ["", "", [] as string[]];
  for await (const line of lines) {
    const [, name, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (line === "") {
      if (id || data.length) yield { kind, id, data: data.join("\n") };
      [kind, id, data] = ["", "", []];
    } else if (name === "event") {
      kind = value;
    } else if (name === "id") {
      id = value;
    } else if (name === "data") {
      data.push(value);
    }
  }
}

/** The body of an import. */
export class LineBody {
  /** What the source of the lines has thrown, or why a line of it has no JSON. */
  failure: unknown;
  readonly #lines: AsyncGenerator<Line, void, undefined>;

  constructor(lines: Iterable<Line> | AsyncIterable<Line>) {
    this.#lines = each(lines);
  }

  /** A stream that is made while it is sent, or one text where `fetch` takes no stream. */
  async init(): Promise<RequestInit> {
    if (takesStreams()) return { body: this.#stream(), duplex: "half" } as RequestInit;
    let text = "";
    for await (const line of this.#lines) text += written(line);
    return { body: text };
  }

  /** Ends the lines. Node goes on to read them after it has aborted the request. */
  end(): void {
    this.#lines.return().catch(() => {});
  }

  #stream(): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    return new ReadableStream({
      pull: async (controller) => {
        const line = await this.#next();
        if (line === undefined) controller.close();
        else controller.enqueue(encoder.encode(line));
      },
    });
  }

  async #next(): Promise<string | undefined> {
    try {
      const { done, value } = await this.#lines.next();
      return done ? undefined : written(value);
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}

async function* each(lines: Iterable<Line> | AsyncIterable<Line>): AsyncGenerator<Line, void, undefined> {
  yield* lines;
}

function written(line: Line): string {
  return `${typeof line === "string" ? line.trimEnd() : jsonOf(line)}\n`;
}

/** Whether `fetch` takes a stream as a body. Browsers, which have a location, do so over HTTP/2 only. */
function takesStreams(): boolean {
  return "duplex" in Request.prototype && !("location" in globalThis && globalThis.location);
}
