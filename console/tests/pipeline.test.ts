import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { startedFixture } from "./fixture.js";
import { Ollama, fails, slow, works } from "./ollama.js";
import { startEmptyServer, until, type Api, type Server } from "./server.js";

const MEMORIES = 1_000;
const NAMESPACE = "fleet";
const FIRST = "fake/fake-64";
const SECOND = "ollama/nomic-embed-text";

const ollama = new Ollama();
let provider: string;
const fixture = startedFixture(serve, fill);
after(() => ollama.stop());
afterEach(() => void (ollama.behaviour = works));

async function serve(): Promise<Server> {
  provider = `ollama.base_url=${await ollama.start()}`;
  // Small calls, so that there are many.
  const calls = ["embed_worker.batch=16", "tokens.encoding=estimate"];
  return startEmptyServer("embedding.provider=fake", "tag.provider=fake", provider, ...calls);
}

async function fill({ url, api }: Server): Promise<void> {
  const lines = Array.from({ length: MEMORIES }, (_, index) => {
    const text = `Van ${index} was washed at depot ${index % 97} by lane ${index % 31}.`;
    return JSON.stringify({ id: `van-${index}`, text, ns: NAMESPACE, robot: "ada" });
  });
  const headers = { "Content-Type": "application/x-ndjson" };
  await (await fetch(`${url}/v1/import`, { method: "POST", headers, body: lines.join("\n") })).text();
  const isDone = async (): Promise<boolean> => (await queues(api)).every(({ queue, done }) => queue === "htm.learn" || done === MEMORIES);
  await until(isDone, 60_000, () => "the workers did not process the memories");
}

interface Queue {
  queue: string;
  model: string | null;
  due: number;
  running: number;
  done: number;
}

function queues(api: Api): Promise<Queue[]> {
  return api("/v1/queues");
}

function cardOf(page: Page, label: string): Locator {
  return page.getByRole("region", { name: `Model ${label}`, exact: true });
}

test("a second model is added and backfilled, with its progress and the time that is left", async () => {
  const page = await fixture.page("/console/pipeline/models");
  await page.clock.install();
  await cardOf(page, FIRST).getByText("1,000 of 1,000 memories (100 %)").waitFor();
  await fixture.server.htm("models", "add", SECOND, "--set", provider);
  await page.reload();
  const card = cardOf(page, SECOND);
  await card.getByText("0 of 1,000 memories (0 %)").waitFor();
  // Somebody looks at it for a minute. That there is nothing to do says nothing of the pace of what comes.
  for (let looks = 0; looks < 3; looks++) {
    const answers = ["queues", "models", "backfills*"].map((path) => page.waitForResponse(`**/v1/${path}`));
    await page.clock.fastForward(20_000);
    await Promise.all((await Promise.all(answers)).map((answer) => answer.finished()));
    // An answer that the page has not read yet would seem to have taken all of the next step.
    await page.evaluate("new Promise((read) => setTimeout(read, 100))");
  }

  ollama.behaviour = slow(1_500);
  await card.getByRole("button", { name: "Embed older memories" }).click();
  const dialog = page.getByRole("dialog", { name: "Backfill" });
  await dialog.getByText("It would make 1,000 jobs.").waitFor();
  await dialog.getByRole("button", { name: "Make 1,000 jobs" }).click();
  const run = page.getByRole("row", { name: `Embeddings no. 1 ${SECOND}` });
  await run.getByText("Workers do its jobs").waitFor();
  const embedded = async (): Promise<number> => Number(await fixture.server.sql(`select count(*) from htm.completions where model = '${SECOND}'`));
  await until(async () => (await embedded()) > 0);
  const [before, began] = [await embedded(), Date.now()];
  await card.getByText(/^[1-9]\d{0,2} of 1,000 memories/).waitFor();
  await run.getByText(/^about .* left$/).waitFor();
  const [, open = "", time = "", unit = ""] = /([\d,]+) open jobs\s+about ([\d.]+) (s|min) left/.exec(await run.innerText()) ?? [];
  const done = await embedded();
  assert.ok(before < done && done < MEMORIES, `${before}, then ${done}`);
  const left = Number(open.replace(",", ""));
  assert.ok(left >= MEMORIES - done && left <= MEMORIES, `${left} left`);
  const expected = (left * (Date.now() - began)) / (done - before) / 1_000;
  const told = Number(time) * (unit === "min" ? 60 : 1);
  // By another measurement of a noisy machine: the order of magnitude.
  assert.ok(told > expected / 5 && told < expected * 5, `${told} s are told, and ${expected} s expected`);

  ollama.behaviour = works;
  await run.getByText("Done").waitFor();
  await card.getByText("1,000 of 1,000 memories (100 %)").waitFor();
  assert.equal(await embedded(), MEMORIES);
  assert.deepEqual(await fixture.server.sql("select enqueued, finished_at is null, cancelled from htm.backfills"), [`${MEMORIES}|f|f`]);
  await page.context().close();
});

test("a slow answer is not asked for again at once, and its age is told", async () => {
  const page = await fixture.page("/console/pipeline");
  const pipeline = page.url();
  // Left, because it would ask before the page is loaded again.
  await page.goto("about:blank");
  await page.clock.install();
  const asked = { queues: 0, workers: 0 };
  for (const path of ["queues", "workers"] as const) {
    await page.route(`**/v1/${path}`, async (route) => {
      asked[path] += 1;
      await page.clock.fastForward(10_000);
      await route.continue();
    });
  }
  await page.goto(pipeline);
  const worker = page.getByRole("region", { name: "Workers" }).getByRole("row").nth(1);
  await worker.waitFor();
  await page.getByRole("heading", { name: "Embedding" }).first().waitFor();
  await page.clock.fastForward(60_000);
  await worker.getByText("min ago").first().waitFor();
  assert.deepEqual(asked, { queues: 1, workers: 1 });
  await page.clock.fastForward(600_000);
  await until(async () => asked.queues > 1 && asked.workers > 1);
  // A request that is on its way forwards the clock of the page, which must be there still.
  await page.unrouteAll({ behavior: "wait" });
  await page.context().close();
});

test("two models are compared, and searches change from one to the other and back", async () => {
  const page = await fixture.page(`/console/pipeline/models?namespace=${NAMESPACE}`);
  const compare = page.getByRole("region", { name: "Compare two models" });
  const query = "Which van was washed at depot 7?";
  await compare.getByLabel("Question, in namespace fleet").fill(query);
  await compare.getByRole("button", { name: "Compare" }).click();
  await compare.getByText(/^Of the first 10 memories, both find \d+\.$/).waitFor();
  const found: string[][] = [];
  for (const label of [FIRST, SECOND]) {
    const asked = { query, strategy: "vector", limit: 10, models: [label], filter: { namespaces: [NAMESPACE] } };
    const { hits } = await fixture.server.api<{ hits: { id: number }[] }>("/v1/recall", asked);
    const shown = await compare.getByRole("region", { name: label }).getByRole("link").allInnerTexts();
    assert.deepEqual(shown, hits.map(({ id }) => `Memory ${id}`));
    found.push(shown);
  }
  assert.notDeepEqual(found[0], found[1]);

  // What full text finds in the place of a model is not what the model finds.
  ollama.behaviour = fails("the disk is full");
  await compare.getByLabel("Question, in namespace fleet").fill("Which van was at lane 3?");
  await compare.getByRole("button", { name: "Compare" }).click();
  await compare.getByText("They cannot be compared: not both could answer.").waitFor();
  await compare.getByRole("region", { name: SECOND }).getByText("HTTP 500 Internal Server Error: the disk is full").waitFor();
  assert.equal(await compare.getByRole("region", { name: SECOND }).getByRole("link").count(), 0);
  assert.equal(await compare.getByRole("region", { name: FIRST }).getByRole("link").count(), 10);
  ollama.behaviour = works;

  const isActive = async (label: string): Promise<void> => {
    await page.getByText(`Searches use ${label} now.`).waitFor();
    await cardOf(page, label).getByText("✓ Active", { exact: true }).waitFor();
    assert.deepEqual(await fixture.server.sql("select label from htm.embedding_models where state = 'active'"), [label]);
    // The server notices it within a second.
    const asked = { query, filter: { namespaces: [NAMESPACE] } };
    await until(async () => (await fixture.server.api<{ models: string[] }>("/v1/recall", asked)).models[0] === label);
  };
  for (const label of [SECOND, FIRST]) {
    await cardOf(page, label).getByRole("button", { name: "Activate" }).click();
    await page.getByRole("dialog", { name: `Activate ${label}` }).getByRole("button", { name: "Activate" }).click();
    await isActive(label);
  }
  await page.locator(".notice", { hasText: `Searches use ${FIRST} now.` }).getByRole("button", { name: "Undo" }).click();
  await cardOf(page, FIRST).getByText("On standby", { exact: true }).waitFor();
  assert.deepEqual(await fixture.server.sql("select label from htm.embedding_models where state = 'active'"), [SECOND]);
  await page.context().close();
});

test("a model of one's own is added and retired", async () => {
  const page = await fixture.page("/console/pipeline/models");
  await page.getByText("Add a model", { exact: true }).click();
  await page.getByRole("button", { name: "Add a model of your own" }).click();
  await page.getByLabel("Name. It is listed as caller/NAME").fill("mine");
  await page.getByLabel("Numbers of a vector, 1 to 4,000").fill("3");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const card = cardOf(page, "caller/mine");
  await card.getByText("Building", { exact: true }).waitFor();
  const state = "select dimensions, state from htm.embedding_models where label = 'caller/mine'";
  assert.deepEqual(await fixture.server.sql(state), ["3|building"]);
  await card.getByRole("button", { name: "Retire" }).click();
  await page.getByRole("dialog", { name: "Retire caller/mine" }).getByRole("button", { name: "Retire" }).click();
  await card.getByText("Retired", { exact: true }).waitFor();
  assert.deepEqual(await fixture.server.sql(state), ["3|retired"]);
  await page.context().close();
});

test("a backfill that waits for its queue is stopped, and what it has made stays", async () => {
  const { api } = fixture.server;
  await api("/v1/queues/htm.tag/pause", { reason: "a test" });
  const { id } = await api<{ id: number }>("/v1/backfills", { stage: "tag", force: true, max_queued: 20 });
  const page = await fixture.page("/console/pipeline/models");
  const run = page.getByRole("row", { name: `Tags no. ${id} ` });
  await run.getByText("Makes jobs").waitFor();
  await run.getByText("20 jobs", { exact: true }).waitFor();
  await run.getByRole("img", { name: `of ${MEMORIES} is looked at` }).waitFor();
  await run.getByRole("button", { name: `Stop … backfill ${id}` }).click();
  await page.getByRole("dialog", { name: `Stop backfill ${id}` }).getByRole("button", { name: "Stop" }).click();
  await run.getByText("Stopped").waitFor();
  assert.deepEqual(await fixture.server.sql(`select enqueued, cancelled from htm.backfills where id = ${id}`), ["20|t"]);
  await run.getByText("20 open jobs").waitFor();
  await api("/v1/queues/htm.tag/resume", {});
  await run.getByText("Nothing", { exact: true }).waitFor();
  await page.context().close();
});

test("a backfill whose queue is paused says so", async () => {
  const { api } = fixture.server;
  await api("/v1/queues/htm.tag/pause", { reason: "a test" });
  const { id } = await api<{ id: number }>("/v1/backfills", { stage: "tag", force: true });
  const page = await fixture.page("/console/pipeline/models");
  const run = page.getByRole("row", { name: `Tags no. ${id} ` });
  await run.getByText("Its queue is paused").waitFor();
  assert.equal(await run.getByText("The pace is being measured").count(), 0);
  await api("/v1/queues/htm.tag/resume", {});
  await run.getByText("Done").waitFor();
  await page.context().close();
});

test("the last hour shows how many jobs were done, how they ended, and how long they took", async () => {
  const { api } = fixture.server;
  await api("/v1/queues/htm.tag/pause", { reason: "a test" });
  await api("/v1/memories", { content: "A job of this is cancelled.", namespace: NAMESPACE });
  await api("/v1/jobs/cancel", { queue: "htm.tag", confirm: true });
  await api("/v1/queues/htm.tag/resume", {});
  await until(async () => (await queues(api)).every(({ due, running }) => due + running === 0));
  // So long that the numbers at the axis are wide.
  await fixture.server.sql("update apalis.jobs set run_at = done_at - interval '10 minutes' where job_type = 'htm.tag' and status = 'Done'");
  const minutes = "date_trunc('minute', done_at)";
  const took = (share: number): string => `round(percentile_cont(${share}) within group (order by extract(epoch from done_at - run_at) * 1000))`;
  const page = await fixture.page("/console/pipeline");
  await page.getByRole("heading", { name: "Dead letters a minute" }).waitFor();
  const charts = [
    { title: "Done jobs a minute", sql: "count(*)", state: "Done" },
    { title: "Dead letters a minute", sql: "count(*)", state: "Killed" },
    { title: "Milliseconds from when a job is due until it is done, the median", sql: took(0.5), state: "Done" },
    { title: "Milliseconds from when a job is due until it is done, the 95th percentile", sql: took(0.95), state: "Done" },
  ];
  for (const { title, sql, state } of charts) {
    const figure = page.getByRole("figure").filter({ has: page.getByRole("img", { name: title }) });
    const drawing = figure.locator("svg.drawing");
    const left = (await drawing.boundingBox())?.x ?? 0;
    for (const label of await drawing.locator("text").all()) assert.ok(((await label.boundingBox())?.x ?? 0) >= left, title);
    await figure.getByText("The numbers as a table").click();
    const names = await figure.getByRole("columnheader").allInnerTexts();
    for (const { queue, model } of (await queues(api)).filter(({ model }) => model)) {
      const column = names.findIndex((name) => name.endsWith(`(${model})`));
      const shown = await figure.locator(`tbody tr > :nth-child(${column + 1})`).allInnerTexts();
      const known = await fixture.server.sql(`select ${sql} from apalis.jobs where job_type = '${queue}' and status = '${state}' group by ${minutes} order by ${minutes} desc`);
      assert.deepEqual(shown.filter((value) => !["0", "–"].includes(value)).map((value) => value.replaceAll(",", "")), known, `${title}, ${queue}`);
    }
  }
  // On a phone, wide tables scroll by themselves.
  await page.setViewportSize({ width: 360, height: 900 });
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360);
  await page.context().close();
});
