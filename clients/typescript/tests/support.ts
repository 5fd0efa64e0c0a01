// What the tests share: the server at HTM_URL, and a `fetch` that is not reliable.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import { Htm } from "htm-memory";

const { HTM_URL } = process.env;
assert(HTM_URL, "HTM_URL names the server to test with");
export const url = HTM_URL;

export const htm = new Htm({ url });

/** A namespace of the test. */
export function ownNamespace(): string {
  return `test/${randomUUID()}`;
}

/** All of a stream. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

/** A `fetch` that passes requests on and loses the first answers to them. */
export function losesAnswers(count: number): { fetch: typeof fetch; keys: (string | null)[] } {
  const keys: (string | null)[] = [];
  return {
    keys,
    async fetch(input, init) {
      keys.push(new Headers(init?.headers).get("Idempotency-Key"));
      const response = await fetch(input, init);
      if (keys.length > count) return response;
      await response.text();
      throw new TypeError("the answer is lost");
    },
  };
}

/** A `fetch` that gives these answers, the last one again and again. */
export function gives(...answers: (() => Response)[]): { fetch: typeof fetch; requests: RequestInit[] } {
  const requests: RequestInit[] = [];
  return {
    requests,
    async fetch(_input, init) {
      const answer = answers[Math.min(requests.length, answers.length - 1)];
      requests.push(init ?? {});
      return answer!();
    },
  };
}

/** An answer that is a problem. */
export function problem(status: number, code: string, headers: Record<string, string> = {}): Response {
  const body = { code, detail: `it is ${code}`, hint: "try it again", values: { a: "1" } };
  return Response.json(body, { status, headers });
}
