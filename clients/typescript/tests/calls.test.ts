// Operations of a server, and its errors.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Htm, HtmError, NoProblem, Unreachable } from "htm-memory";
import { all, gives, htm, ownNamespace, problem } from "./support.js";

test("a memory is remembered, found, edited and forgotten", async () => {
  const namespace = ownNamespace();
  const memory = { content: "Mara prefers tabs.", namespace, tags: ["editor"] };
  const written = await htm.memories.create({ ...memory, wait: "embed" });
  assert.equal(written.status?.node, written.node);
  const found = await htm.recall.recall({ query: "tabs or spaces?", filter: { namespaces: [namespace] } });
  assert.deepEqual(found.hits.map((hit) => hit.content), ["Mara prefers tabs."]);
  const edit = { content: "Mara prefers spaces.", namespace };
  const edited = await htm.memories.edit(written.node, edit, { ifRevision: 1 });
  assert.equal(edited.revision, 2);
  await assert.rejects(htm.memories.edit(written.node, { ...edit, content: "both" }, { ifRevision: 1 }), (lost) => {
    assert(lost instanceof HtmError);
    assert.equal(lost.code, "revision_conflict");
    assert.equal(lost.status, 412);
    assert.equal(lost.values["node"], `${written.node}`);
    assert(lost.requestId && lost.detail && lost.hint);
    assert.equal(lost.message, `${lost.detail} (revision_conflict); ${lost.hint}`);
    return true;
  });
  await htm.memories.forget(written.node, { namespace, confirm: true });
  await assert.rejects(htm.memories.get(written.node), { code: "node_not_found" });
});

test("null removes, and what is not given stays", async () => {
  const namespace = ownNamespace();
  const memory = { content: "one", namespace, key: "k/ä ?", source: "chat", metadata: { a: 1 } };
  const { node } = await htm.memories.create(memory);
  await htm.memories.edit(node, { namespace, source: null, importance: 5, metadata: { a: null, b: [2] } });
  const { key, source, importance, metadata } = await htm.memories.getByKey("k/ä ?", { namespace });
  assert.deepEqual({ key, source: source ?? null, importance }, { key: "k/ä ?", source: null, importance: 5 });
  assert.deepEqual(metadata, { b: [2] });
});

test("every page is read", async () => {
  const namespace = ownNamespace();
  const texts = Array.from({ length: 25 }, (_, number) => `memory ${number}`);
  await htm.memories.createMany({ memories: texts.map((content) => ({ content, namespace })) });
  const seen = [];
  let cursor: string | null | undefined;
  do {
    const page = await htm.memories.list({ namespace, limit: 10, cursor });
    seen.push(...page.memories.map((it) => it.content));
    cursor = page.next;
  } while (cursor);
  assert.deepEqual(seen.sort(), texts.sort());
});

test("operations of other subjects", async () => {
  const namespace = ownNamespace();
  const made = await htm.files.create({ path: "/memories/a.md", file_text: "text", namespace });
  assert.match(made.content, /^File/);
  assert((await htm.jobs.queues()).some((queue) => queue.queue === "htm.embed"));
});

test("a part of a path cannot lead to another path", async () => {
  for (const key of ["", ".", ".."]) await assert.rejects(htm.memories.getByKey(key), TypeError);
  await assert.rejects(htm.memories.getByKey("half \ud83d"), { code: "path_invalid", detail: /"half \\ud83d"/ });
});

test("a URL alone is no client's settings", () => {
  // @ts-expect-error: JavaScript has no compiler to say so.
  assert.throws(() => new Htm("http://here"), { name: "TypeError", message: /\{ url \}/ });
});

test("the compiler knows the codes", () => {
  const { code } = new HtmError("key_taken", "it is taken");
  // @ts-expect-error: there is no such code.
  assert(!(code === "key_takn"));
  assert(code === "key_taken");
  const newer = new HtmError("of_a_newer_server", "it is new");
  assert((newer.code as string) === "of_a_newer_server");
});

test("a request has the key, the path of the URL, and every item of its query", async () => {
  const asked: [unknown, RequestInit | undefined][] = [];
  const client = new Htm({
    url: "https://here/htm/",
    key: "htm_1",
    fetch: async (input, init) => {
      asked.push([input, init]);
      return Response.json([]);
    },
  });
  await client.memories.list({ namespace: "a b", limit: 2, cursor: null });
  const [input, init] = asked[0]!;
  assert.equal(input, "https://here/htm/v1/memories?namespace=a+b&limit=2");
  assert.deepEqual(init?.headers, { Authorization: "Bearer htm_1" });
  assert.equal(init?.body, undefined);
});

test("a number or a date that JSON does not have is refused", async () => {
  const { fetch, requests } = gives(() => Response.json({}));
  const client = new Htm({ fetch });
  for (const value of [NaN, -Infinity, new Date("no")]) {
    const write = client.memories.create({ content: "one", metadata: { deep: [{ value }] } });
    await assert.rejects(write, { name: "TypeError", message: /^`value` cannot be / });
    await assert.rejects(all(htm.importLines([{ id: "a", value }])), { message: /`value` cannot be / });
  }
  assert.equal(requests.length, 0);
  await client.memories.create({ content: "one", metadata: { at: new Date(0), not: null } });
  assert.match(String(requests[0]!.body), /"at":"1970-01-01T00:00:00.000Z","not":null/);
});

test("a key is stripped and never shown", async () => {
  const { fetch, requests } = gives(() => Response.json([]));
  await new Htm({ key: " key\n", fetch }).jobs.queues();
  // A place where a key is kept may have none.
  for (const key of ["\n", null]) await new Htm({ key, fetch }).jobs.queues();
  assert.deepEqual(requests.map((init) => init.headers), [{ Authorization: "Bearer key" }, {}, {}]);
  for (const key of ["htm_\nsecret", "htm_ secret", "htm_sécret"]) {
    assert.throws(() => new Htm({ key }), (error) => {
      assert(error instanceof HtmError && error.code === "api_key_invalid");
      return !error.message.includes("cret");
    });
  }
});

test("an idempotency key that is none is told", async () => {
  const { fetch, requests } = gives(() => Response.json({}));
  for (const idempotencyKey of ["", " ", "a\nb", "ü", "k".repeat(256)]) {
    const write = new Htm({ fetch }).memories.create({ content: "one" }, { idempotencyKey });
    await assert.rejects(write, { code: "operation_invalid" });
  }
  assert.equal(requests.length, 0);
});

test("what is no server of HTM is told", async () => {
  const call = (answer: () => Response) => new Htm({ fetch: gives(answer).fetch }).jobs.queues();
  for (const answer of [
    () => new Response("<html>", { status: 404 }),
    () => Response.json({ error: "no" }, { status: 404 }),
    () => Response.json(null, { status: 404 }),
  ]) {
    await assert.rejects(call(answer), (error) => error instanceof NoProblem && error.status === 404);
  }
  await assert.rejects(call(() => Response.redirect("http://elsewhere", 302)), { code: "no_problem", status: 302 });
  await assert.rejects(call(() => new Response("<html>")), NoProblem);
  await assert.rejects(call(() => problem(409, "later_code")), { code: "later_code", status: 409, values: { a: "1" } });
  const nobody = new Htm({ url: "http://127.0.0.1:9", retries: 0 });
  await assert.rejects(nobody.jobs.queues(), (error) => {
    assert(error instanceof Unreachable);
    assert.match(error.message, /^no whole answer from http:\/\/127.0.0.1:9\/v1\/queues: .+\(unreachable\); start it/);
    return true;
  });
});
