// Imports, exports and events.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { Htm, Unreachable, type Event } from "htm-memory";
import { all, gives, htm, ownNamespace, problem, url } from "./support.js";

function memories(namespace: string, count: number): { id: string; ns: string; text: string }[] {
  return Array.from({ length: count }, (_, number) => ({ id: `m${number}`, ns: namespace, text: `text ${number} ä` }));
}

/** The node of the next memory that has vectors. */
async function embedded(events: AsyncIterable<Event>): Promise<Event> {
  for await (const event of events) if (event.kind === "memory.embedded") return event;
  throw new Error("the stream ended");
}

function nodeOf(event: Event): unknown {
  return event.kind === "queue.depth" ? undefined : event.data.node;
}

test("lines are imported, and exported", async () => {
  const namespace = ownNamespace();
  const lines = memories(namespace, 5);
  const results = await all(htm.importLines(lines));
  assert.deepEqual(results.map((it) => [it.line, "problem" in it]), [1, 2, 3, 4, 5].map((line) => [line, false]));
  const again = await all(htm.importLines(lines.map((line) => `${JSON.stringify(line)}\n`)));
  assert.deepEqual(new Set(again.map((it) => "outcome" in it && it.outcome)), new Set(["existing"]));
  const [, bad] = await all(htm.importLines([lines[0]!, { id: "x", ns: namespace }]));
  assert(bad && "problem" in bad && bad.problem.code === "line_invalid");
  const exported = await all(htm.exportLines([namespace]));
  const texts = exported.filter((it) => it["kind"] === "memory").map((it) => it["text"]);
  assert.deepEqual(texts.sort(), lines.map((it) => it.text));
  assert.equal(exported.at(-1)?.["kind"], "end");
  await assert.rejects(all(htm.exportLines(["not a namespace//"])), { status: 422 });
});

test("an export is imported as it comes", async () => {
  const namespace = ownNamespace();
  await all(htm.importLines(memories(namespace, 300)));
  const results = await all(htm.importLines(htm.exportLines([namespace])));
  assert(results.length >= 300 && results.every((it) => "outcome" in it && it.outcome === "existing"));
});

test("a result comes while lines are still made", async () => {
  const namespace = ownNamespace();
  let isFirstRead = false;
  let release = (): void => {};
  const first = new Promise<void>((resolve) => (release = resolve));
  async function* lines() {
    // More than the 500 that the server writes at a time.
    yield* memories(namespace, 600);
    await first;
    yield { id: "last", ns: namespace, text: "the last" };
  }
  let count = 0;
  for await (const result of htm.importLines(lines())) {
    assert("outcome" in result);
    if (!isFirstRead) release();
    isFirstRead = true;
    count += 1;
  }
  assert.equal(count, 601);
});

test("an import ends with its caller, and with its lines", async () => {
  const namespace = ownNamespace();
  let isEnded = false;
  async function* lines() {
    try {
      yield* memories(namespace, 600);
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        yield "";
      }
    } finally {
      isEnded = true;
    }
  }
  for await (const _ of htm.importLines(lines())) break;
  while (!isEnded) await new Promise((resolve) => setTimeout(resolve, 10));
  async function* broken() {
    yield* memories(namespace, 1);
    throw new RangeError("the disk is gone");
  }
  await assert.rejects(all(htm.importLines(broken())), { message: "the disk is gone" });
});

test("a line that has no JSON is told, and ends its source", async () => {
  let isEnded = false;
  async function* lines() {
    try {
      yield { id: "a", ns: ownNamespace(), text: "one", meta: { x: NaN } };
    } finally {
      isEnded = true;
    }
  }
  await assert.rejects(all(htm.importLines(lines())), { name: "TypeError", message: "`x` cannot be NaN" });
  while (!isEnded) await new Promise((resolve) => setTimeout(resolve, 10));
});

test("a stream that breaks off is told", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200).write('{"kind":"header"}\n{"kind":');
    setTimeout(() => response.destroy(), 50);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = new Htm({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const seen: unknown[] = [];
  await assert.rejects(async () => {
    for await (const line of client.exportLines()) seen.push(line);
  }, Unreachable);
  assert.deepEqual(seen, [{ kind: "header" }]);
  async function* lines() {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      yield { id: "a" };
    }
  }
  await assert.rejects(all(client.importLines(lines())), Unreachable);
  server.close();
});

test("a browser sends the lines in one body", async () => {
  const { fetch, requests } = gives(() => new Response('{"line":1,"kind":"memory","outcome":"written"}'));
  Object.assign(globalThis, { location: new URL("https://here") });
  try {
    assert.equal((await all(new Htm({ fetch }).importLines([{ id: "a" }, '{"id": "b"}\n']))).length, 1);
  } finally {
    Reflect.deleteProperty(globalThis, "location");
  }
  assert.equal(requests[0]!.body, '{"id":"a"}\n{"id": "b"}\n');
});

test("events go on where they were", async () => {
  const namespace = ownNamespace();
  const first = htm.events([namespace]);
  // It is open from its first event on.
  assert.equal((await first.next()).value?.kind, "queue.depth");
  const { node } = await htm.memories.create({ content: "Mara prefers tabs.", namespace });
  const event = await embedded(first);
  assert.equal(nodeOf(event), node);
  const other = await htm.memories.create({ content: "Ben prefers spaces.", namespace });
  const later = await embedded(htm.events([namespace], { after: event.id }));
  assert.equal(nodeOf(later), other.node);
});

test("events go on after a broken connection, from the last place that was told", async () => {
  const stream = (text: string) => () => new Response(text);
  const asked: string[] = [];
  const { fetch } = gives(
    stream(
      'id: 1\n\n: nothing\n\nid: 2\nevent: job.dead\ndata: {"job":\ndata: "a\u2028"}\n\n' +
        "id: 3\r\n\r\nevent: job.dead\ndata: {}",
    ),
    () => problem(429, "too_busy", { "Retry-After": "0" }),
    () => {
      throw new TypeError("the connection is refused");
    },
    stream("event:queue.depth\ndata:{}\n\nid: 4\nevent: job.dead\ndata: {}\n\n"),
    () => problem(401, "key_unknown"),
  );
  const client = new Htm({
    fetch: (input, init) => {
      asked.push(String(input).replace(/.*\?/, ""));
      return fetch(input, init);
    },
  });
  const seen: unknown[] = [];
  await assert.rejects(async () => {
    for await (const event of client.events(["a", "b"], { after: "0" })) seen.push({ ...event });
  }, { status: 401 });
  assert.deepEqual(seen, [
    { kind: "job.dead", id: "2", data: { job: "a\u2028" } },
    { kind: "queue.depth", id: "3", data: {} },
    { kind: "job.dead", id: "4", data: {} },
  ]);
  assert.deepEqual(asked, ["0", "3", "3", "3", "4"].map((after) => `namespace=a&namespace=b&after=${after}`));
});

test("a caller ends a stream of events", async () => {
  const controller = new AbortController();
  const reason = new Error("the user has left");
  setTimeout(() => controller.abort(reason), 100);
  await assert.rejects(all(htm.events([ownNamespace()], { signal: controller.signal })), reason);
});

test("the server is left when a stream is", async () => {
  const signals: AbortSignal[] = [];
  const client = new Htm({
    url,
    fetch: (input, init) => {
      signals.push(init!.signal!);
      return fetch(input, init);
    },
  });
  for await (const _ of client.exportLines([ownNamespace()])) break;
  assert(signals[0]!.aborted);
});
