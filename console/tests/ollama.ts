// A local provider that speaks Ollama's API, and does with a call what the test says.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A call with its memories: to embed them, or to find their tags. */
export interface Call {
  isEmbedding: boolean;
  texts: string[];
}

export type Behaviour = (call: Call, response: ServerResponse) => unknown;

export class Ollama {
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response));
  /** What it does with a call. */
  behaviour: Behaviour = works;

  /** Starts it. Returns its URL. */
  async start(): Promise<string> {
    await new Promise<void>((listening) => this.#server.listen(0, "127.0.0.1", listening));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString());
    const isEmbedding = request.url === "/api/embed";
    this.behaviour({ isEmbedding, texts: isEmbedding ? body.input : textsOf(body.messages[1].content) }, response);
  }
}

/** The memories in the question about tags. */
function textsOf(question: string): string[] {
  return JSON.parse(question).texts.map(({ text }: { text: string }) => text);
}

function send(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

function say(response: ServerResponse, content: string): void {
  send(response, { message: { role: "assistant", content }, done: true, done_reason: "stop" });
}

/** It embeds by letters, and each memory has these tags. */
function tags(...names: string[]): Behaviour {
  return ({ isEmbedding, texts }, response) => {
    if (isEmbedding) return send(response, { embeddings: texts.map(vectorOf) });
    const results = texts.map((_, index) => ({ index, tags: names.map((tag) => ({ tag, confidence: 0.9 })) }));
    return say(response, JSON.stringify({ results }));
  };
}

/** Each memory has the tag `mended`. */
export const works = tags("mended");

/** No memory has a tag. */
export const without = tags();

function vectorOf(text: string): number[] {
  const vector = Array.from({ length: 8 }, () => 0.1);
  for (const letter of text) vector[letter.charCodeAt(0) % 8]! += 1;
  return vector;
}

/** It works, and takes its time. */
export function slow(milliseconds: number): Behaviour {
  return (call, response) => setTimeout(() => works(call, response), milliseconds);
}

/** A language model answers this, whatever it is asked. */
export function says(content: string): Behaviour {
  return (_, response) => say(response, content);
}

/** It fails, and says why. */
export function fails(error: string): Behaviour {
  return (_, response) => send(response, { error }, 500);
}

/** The connection is closed without an answer. */
export const closes: Behaviour = (_, response) => response.destroy();

/** It answers when it is released, and works from then on. */
export function holds(): { behaviour: Behaviour; release: () => void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  return { behaviour: (call, response) => void released.then(() => works(call, response)), release };
}
