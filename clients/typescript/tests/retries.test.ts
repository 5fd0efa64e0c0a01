// Calls that fail on the way, are late, or are ended by their caller.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Htm, Unreachable } from "htm-memory";
import { gives, htm, losesAnswers, ownNamespace, problem, url } from "./support.js";

test("a lost answer does not write twice", async () => {
  const namespace = ownNamespace();
  const wire = losesAnswers(2);
  const { node } = await new Htm({ url, fetch: wire.fetch }).memories.create({ content: "once", namespace });
  assert.equal(wire.keys.length, 3);
  assert(wire.keys[0] && new Set(wire.keys).size === 1);
  const { memories } = await htm.memories.list({ namespace });
  assert.deepEqual(memories.map((it) => it.id), [node]);
});

test("each write has a key of its own, also on a page that was not loaded over TLS", async (context) => {
  // Such a page has the rest of `crypto`.
  context.mock.method(crypto, "randomUUID", () => assert.fail("there is no such function"));
  const { fetch, requests } = gives(() => Response.json({}));
  const client = new Htm({ fetch });
  for (let call = 0; call < 100; call += 1) await client.memories.create({ content: "once" });
  const keys = requests.map((init) => new Headers(init.headers).get("Idempotency-Key") ?? "");
  for (const key of keys) assert.match(key, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  assert.equal(new Set(keys).size, 100);
});

test("a key of the caller holds over calls", async () => {
  const namespace = ownNamespace();
  const options = { idempotencyKey: namespace };
  const first = await htm.memories.create({ content: "once", namespace }, options);
  assert.deepEqual(await htm.memories.create({ content: "once", namespace }, options), first);
  await assert.rejects(htm.memories.create({ content: "twice", namespace }, options), { status: 422 });
});

test("the attempts end", async () => {
  const wire = losesAnswers(9);
  const client = new Htm({ url, fetch: wire.fetch, retries: 2 });
  await assert.rejects(client.memories.create({ content: "never told", namespace: ownNamespace() }), Unreachable);
  assert.equal(wire.keys.length, 3);
});

test("a busy server is asked again", async () => {
  for (const busy of [
    () => problem(429, "too_busy", { "Retry-After": "0" }),
    () => new Response("", { status: 502 }),
  ]) {
    const { fetch, requests } = gives(busy, busy, () => Response.json([]));
    assert.deepEqual(await new Htm({ fetch }).jobs.queues(), []);
    assert.equal(requests.length, 3);
  }
});

test("the answer to a call that is still in hand is waited for", async () => {
  const open = () => problem(409, "operation_open", { "Retry-After": "0" });
  const { fetch, requests } = gives(() => new Response("", { status: 408 }), open, open, open, open, () => Response.json([]));
  assert.deepEqual(await new Htm({ fetch, retries: 1 }).jobs.queues(), []);
  assert.equal(requests.length, 6);
});

test("reads see what was written", async () => {
  const replicated = (position?: string) => () =>
    Response.json([], { headers: position ? { "HTM-WAL-Position": position } : {} });
  const { fetch, requests } = gives(replicated("0/FF"), replicated(), replicated("1/2"), replicated("0/100"));
  const client = new Htm({ fetch });
  for (let call = 0; call < 5; call += 1) await client.jobs.queues();
  const sent = requests.map((init) => new Headers(init.headers).get("HTM-WAL-Position"));
  assert.deepEqual(sent, [null, "0/FF", "0/FF", "1/2", "1/2"]);
});

test("the server says how long to wait", async () => {
  const { fetch } = gives(() => problem(429, "rate_limited", { "Retry-After": "1" }), () => Response.json([]));
  const start = performance.now();
  await new Htm({ fetch }).jobs.queues();
  assert(performance.now() - start > 900);
  const later = gives(() => problem(429, "rate_limited", { "Retry-After": "7" }));
  await assert.rejects(new Htm({ fetch: later.fetch, retries: 0 }).jobs.queues(), { retryAfter: 7 });
});

test("what was refused is not sent again", async () => {
  const { fetch, requests } = gives(() => problem(409, "key_taken"));
  await assert.rejects(new Htm({ fetch }).jobs.queues(), { code: "key_taken" });
  assert.equal(requests.length, 1);
});

test("the creation of a key is not repeated", async () => {
  const { fetch, requests } = gives(() => problem(429, "too_busy", { "Retry-After": "0" }));
  await assert.rejects(new Htm({ fetch }).keys.create({ role: "reader" }), { code: "too_busy" });
  assert.equal(requests.length, 1);
  assert.equal(new Headers(requests[0]!.headers).get("Idempotency-Key"), null);
});

/** A `fetch` whose answer does not come. */
const silent: typeof fetch = (_input, init) =>
  new Promise((_, reject) => init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason)));

test("a late answer is a failure", async () => {
  const late = new Htm({ fetch: silent, timeout: 20, retries: 1 });
  await assert.rejects(late.jobs.queues(), { code: "unreachable", detail: /nothing came for 20 ms/ });
});

test("a caller ends a call, also between its attempts", async () => {
  const reason = new Error("the user has left");
  const ended = AbortSignal.abort(reason);
  await assert.rejects(htm.jobs.queues({ signal: ended }), reason);
  const later = new AbortController();
  setTimeout(() => later.abort(reason), 20);
  await assert.rejects(new Htm({ fetch: silent }).jobs.queues({ signal: later.signal }), reason);
  const pausing = new AbortController();
  setTimeout(() => pausing.abort(reason), 20);
  const { fetch } = gives(() => problem(429, "too_busy", { "Retry-After": "30" }));
  await assert.rejects(new Htm({ fetch }).jobs.queues({ signal: pausing.signal }), reason);
});
