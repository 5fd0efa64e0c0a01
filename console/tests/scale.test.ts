// The views with many memories, tags and dead letters: each shows them, and none freezes.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { startedFixture } from "./fixture.js";
import { startEmptyServer } from "./server.js";

const MEMORIES = 100_000;
// A fiftieth of them at the top, the others below these.
const TAGS = 5_000;
const DEAD = 10_000;

// The machine is shared, so this is not about speed: nothing stands still for as long as that.
const FROZEN_MS = 2_000;
const ANSWER_MS = 60_000;

// Those with a vector: as many are shown on the map, and an index of all would take minutes.
const EMBEDDED = 2_500;

// By SQL: the API would take minutes.
const FILL = `
  set statement_timeout = 0;
  insert into htm.robots (namespace, name) select 'scale', 'robot-' || g from generate_series(1, 20) g;
  insert into htm.tags (namespace, path)
  select 'scale', 'area-' || a from generate_series(1, ${TAGS / 50}) a
  union all
  select 'scale', 'area-' || a || ':topic-' || t from generate_series(1, ${TAGS / 50}) a, generate_series(1, 49) t;
  insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding, created_at)
  select 'scale', (select min(id) from htm.robots where namespace = 'scale') + g % 20,
         'The parcel ' || g || ' went by depot ' || g % 97 || ' and lane ' || g % 31 || '.', sha256(g::text::bytea), 12, 'estimate',
         now() - g * interval '5 minutes'
    from generate_series(1, ${MEMORIES}) g;
  insert into htm.node_tags (namespace, node_id, tag_id, origin)
  select n.namespace, n.id, t.id, 'manual'
    from (select id, namespace, row_number() over (order by id) as place from htm.nodes where namespace = 'scale') n
    join (select id, row_number() over (order by id) - 1 as place from htm.tags where namespace = 'scale') t on t.place = n.place % ${TAGS};
  insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, done_at, priority, metadata, idempotency_key, last_result)
  select 'scale-' || lpad(row_number() over (order by id)::text, 6, '0'), 'htm.tag',
         convert_to(json_build_object('v', 1, 'node', id, 'revision', 1)::text, 'UTF8'), 'Killed', 25, 25, now(), now(), 0,
         hstore(array['namespace', namespace, 'node', id::text, 'revision', '1']), 'scale/' || id,
         jsonb_build_object('Err', 'provider_timeout: the model did not answer in 30 s')
    from htm.nodes where namespace = 'scale' order by id limit ${DEAD};
  insert into htm.completions (namespace, node_id, revision, stage, model, outcome, worker, attempt)
  select namespace, id, 1, s.stage, s.model, 'scale', 'scale', 1 from htm.nodes
   cross join (select 'embed', label from htm.embedding_models where state = 'active' union all select 'tag', 'rules') s(stage, model)
   where namespace = 'scale';
  do $$ declare store regclass;
  begin
    select ('htm.embeddings_' || id)::regclass into store from htm.embedding_models where state = 'active';
    execute format(
      'insert into %s (node_id, namespace, created_at, revision, embedding)
       select n.id, n.namespace, n.created_at, 1,
              (select array_agg(random() - 0.5 + (n.id %% 7 = g %% 7)::int) from generate_series(1, 384) g)::real[]::halfvec(384)
         from htm.nodes n where n.namespace = ''scale'' order by n.id limit ${EMBEDDED}', store);
  end $$;
  select htm.refresh_statistics('scale');
  analyze htm.nodes, htm.node_tags, htm.tags, htm.completions, apalis.jobs;
`;

const fixture = startedFixture(startEmptyServer, (server) => server.sql(FILL));

/** Opens a view, waits for what it is to show, and checks that it has not frozen on the way and handles a key. */
async function shown(path: string, what: (page: Page) => Promise<unknown>): Promise<void> {
  const page = await fixture.page(path);
  page.setDefaultTimeout(ANSWER_MS);
  await what(page);
  const pressed = Date.now();
  await page.keyboard.press("Tab"); // is answered once the page has handled it
  const key = Date.now() - pressed;
  assert.ok(key < FROZEN_MS, `${path}: a key took ${key} ms`);
  const task = await page.evaluate<number>(`new Promise((longest) => {
    new PerformanceObserver((list) => longest(Math.max(...list.getEntries().map((task) => task.duration))))
      .observe({ type: "longtask", buffered: true });
    setTimeout(() => longest(0), 500);
  })`);
  assert.ok(task < FROZEN_MS, `${path}: a task took ${task} ms`);
  await page.context().close();
}

test(`search among ${MEMORIES} memories`, async () => {
  await shown("/?namespace=scale&q=parcel+depot&strategy=fulltext", async (page) => {
    await page.locator(".hit").first().waitFor();
    // Of thousands of tags, a few are proposed.
    await page.getByLabel("Add a tag").fill("topic-4");
    await page.locator('datalist option[value*="topic-4"]').first().waitFor({ state: "attached" });
    assert.ok((await page.locator("datalist option").count()) < 100);
  });
});

test(`a timeline of ${MEMORIES} memories`, async () => {
  await shown("/console/timeline?namespace=scale", async (page) => {
    await page.locator("main svg.drawing").first().waitFor();
    await page.locator("li.entry").first().waitFor();
  });
});

test(`a map of a sample of ${MEMORIES} memories`, async () => {
  await shown("/console/map?namespace=scale", async (page) => {
    await page.getByText(`A sample of 2,000 of ${EMBEDDED.toLocaleString("en")} memories`).waitFor();
    await page.getByText("2,000 memories, the latest first").waitFor();
    assert.equal(await page.locator("main svg.drawing > g > path").count(), 7);
  });
});

test(`${TAGS} tags`, async () => {
  await shown("/console/tags?namespace=scale", async (page) => {
    await page.getByText("5,000 tags").first().waitFor();
    await page.getByRole("button", { name: "Unfold all" }).click();
    await page.locator('[role=treeitem][title="area-1:topic-1"]').waitFor();
    // Only the rows that are seen are drawn.
    assert.ok((await page.locator("[role=treeitem]").count()) < 500);
  });
});

test(`${DEAD} dead letters`, async () => {
  await shown("/console/pipeline/dead-letters", async (page) => {
    await page.getByText("did not answer in 30 s").first().waitFor();
    assert.ok((await page.locator("tbody tr").count()) <= 300);
  });
});

test(`a memory among ${MEMORIES}`, async () => {
  const body = { query: "parcel 777", strategy: "fulltext", limit: 1, filter: { namespaces: ["scale"] } };
  const { hits } = await fixture.server.api<{ hits: { id: number }[] }>("/v1/recall", body);
  await shown(`/console/memories/${hits[0]?.id}`, async (page) => {
    await page.getByRole("heading", { level: 1, name: "The parcel" }).waitFor();
    await page.getByRole("heading", { name: "Tags" }).waitFor();
  });
});
