import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { startedFixture } from "./fixture.js";
import { Ollama, closes, fails, holds, says, without, works } from "./ollama.js";
import { startEmptyServer, until } from "./server.js";

const TAGGER = "ollama/llama3.2";
const ollama = new Ollama();
const fixture = startedFixture(async () =>
  // A call for each memory, so that calls that fail are counted.
  startEmptyServer("embedding.provider=fake", "tag.provider=ollama", "tag_worker.batch=1", `ollama.base_url=${await ollama.start()}`),
);
after(() => ollama.stop());
afterEach(() => void (ollama.behaviour = works));

let texts = 0;

/** New memories of a namespace. */
async function written(namespace: string, count = 1): Promise<number[]> {
  const memories = Array.from({ length: count }, () => ({ content: `Parcel ${++texts} of ${namespace} is late.`, namespace }));
  const { results } = await fixture.server.api<{ results: { node: number }[] }>("/v1/memories/batch", { memories });
  return results.map(({ node }) => node);
}

type Stage = "embed" | "tag";

async function isDone(ids: readonly number[], ...stages: Stage[]): Promise<boolean> {
  const status = (id: number): Promise<{ stages: { stage: Stage; state: string }[] }> => fixture.server.api(`/v1/memories/${id}/status`);
  const all = (await Promise.all(ids.map(status))).flatMap((status) => status.stages);
  return all.every(({ stage, state }) => state === "done" || (stages.length > 0 && !stages.includes(stage)));
}

/** The tags of memories in the database. */
function tagsOf(ids: readonly number[]): Promise<string[]> {
  return fixture.server.sql(`select node_id || ' ' || path from htm.node_tags join htm.tags on id = tag_id where node_id in (${ids.join()}) order by node_id`);
}

/** The states of the tag jobs of memories in the database. */
function statesOf(ids: readonly number[]): Promise<string[]> {
  return fixture.server.sql(`select distinct status from apalis.jobs where job_type = 'htm.tag' and (metadata -> 'node')::bigint in (${ids.join()})`);
}

function breaker(): Promise<string[]> {
  return fixture.server.sql(`select breaker from htm.providers where model = '${TAGGER}'`);
}

function toast(page: Page, text: string): Locator {
  return page.locator(".toasts").getByText(text);
}

test("a provider that fails is left alone, the page says why, and it is called again once it works", async () => {
  const page = await fixture.page("/console/pipeline/providers");
  const row = page.getByRole("row", { name: new RegExp(`^${TAGGER} `) });
  await row.getByText("No failure").waitFor();

  ollama.behaviour = fails("the disk is <b>full</b>");
  const failed = await written("failing", 5);
  await until(async () => (await breaker())[0] === "open");
  await page.reload();
  await row.getByText("Left alone").waitFor();
  await row.getByText("The provider failed", { exact: true }).waitFor();
  await row.getByText("provider_server_error", { exact: true }).waitFor();
  await row.getByText("HTTP 500 Internal Server Error: the disk is <b>full</b>").waitFor();
  await row.getByText(/next call in [\d.]+ m?s/).waitFor();
  assert.equal(await row.locator("b").count(), 0);
  const trial = holds();
  ollama.behaviour = trial.behaviour;
  await until(async () => (await breaker())[0] === "half_open");
  await page.reload();
  await row.getByText("Tried with one job").waitFor();
  ollama.behaviour = works;
  trial.release();
  await row.getByText("It may be called").waitFor();
  assert.deepEqual(await breaker(), ["closed"]);
  await until(() => isDone(failed));

  ollama.behaviour = closes;
  const closed = await written("closing", 5);
  await until(async () => (await breaker())[0] === "open");
  // It does not close by itself meanwhile.
  const another = holds();
  ollama.behaviour = another.behaviour;
  await page.reload();
  await row.getByText("The provider could not be reached").waitFor();
  await row.getByRole("button", { name: `Try now ${TAGGER}` }).click();
  await toast(page, `${TAGGER} is called again at once.`).waitFor();
  assert.deepEqual(await breaker(), ["closed"]);
  ollama.behaviour = works;
  another.release();
  await until(() => isDone(closed));
  assert.equal((await tagsOf([...failed, ...closed])).length, 10);
  await page.context().close();
});

test("a dead letter shows what the model said, and is retried alone and with all", async () => {
  const rubbish = "As a model, I <b>cannot</b> <script>alert(1)</script> do that.";
  ollama.behaviour = says(rubbish);
  const ids = await written("letters", 3);
  const [first = 0] = ids;
  await until(async () => (await statesOf(ids)).join() === "Killed");
  const page = await fixture.page("/console/pipeline/dead-letters?namespace=letters");
  page.on("dialog", () => assert.fail("a script of a model has run"));
  const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: `Memory ${first}`, exact: true }) });
  await row.getByText("The model's answer could not be used").waitFor();
  await row.getByText("provider_unusable_answer", { exact: true }).waitFor();
  assert.equal(await row.locator("blockquote").innerText(), rubbish);
  assert.equal(await page.locator("main script, main b").count(), 0);
  await row.getByRole("link", { name: "Details" }).click();
  const { content } = await fixture.server.api<{ content: string }>(`/v1/memories/${first}`);
  await page.getByText(content, { exact: true }).waitFor();
  assert.equal(await page.locator("blockquote").innerText(), rubbish);
  await page.goBack();
  const memory = await fixture.page(`/console/memories/${first}`);
  await memory.getByText("1 attempt was made.").waitFor();
  await memory.context().close();

  // It fails again, and the page shows that by itself.
  ollama.behaviour = says("No.");
  const retry = row.getByRole("button", { name: "Retry" });
  await retry.click();
  await until(() => retry.isDisabled());
  await until(() => retry.isEnabled());
  assert.equal(await row.locator("blockquote").innerText(), "No.");

  ollama.behaviour = works;
  await retry.click();
  await toast(page, "1 job is ready again.").waitFor();
  await until(() => isDone([first]));
  await page.getByRole("button", { name: "Retry all that match" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Retry 2 dead letters" }).click();
  await toast(page, "2 jobs are ready again.").waitFor();
  await page.getByText("No dead letters match.").waitFor();
  await until(() => isDone(ids));
  assert.deepEqual(await tagsOf(ids), ids.map((id) => `${id} mended`));
  await page.context().close();
});

test("a memory without tags says whether a worker will add some", async () => {
  const { api } = fixture.server;
  const says = async (ids: readonly number[], text: string, region = "Tags"): Promise<void> => {
    const page = await fixture.page(`/console/memories/${ids[0]}`);
    await page.getByRole("region", { name: region, exact: true }).getByText(text, { exact: true }).waitFor();
    await page.context().close();
  };
  ollama.behaviour = without;
  const untagged = await written("untagged");
  await until(() => isDone(untagged));
  await says(untagged, "It has none: the worker found none.");

  await api("/v1/queues/htm.tag/pause", { reason: "a test" });
  const waiting = await written("untagged");
  await says(waiting, "It has none. A worker adds some when it has read the text.");
  await until(() => isDone(waiting, "embed"));
  await says(waiting, "It is ready for a worker.", "Processing");
  await api("/v1/jobs/cancel", { queue: "htm.tag", confirm: true });
  await says(waiting, "It has none: its tagging failed for good. Processing says why.");
  await api("/v1/queues/htm.tag/resume", {});
});

test("jobs are cancelled one by one and all together", async () => {
  const { api } = fixture.server;
  await api("/v1/queues/htm.tag/pause", { reason: "a test" });
  const ids = await written("cancelled", 3);
  const [first = 0, ...others] = ids;
  await until(() => isDone(ids, "embed"));
  const page = await fixture.page("/console/pipeline/jobs?namespace=cancelled");
  await page.getByRole("button", { name: `Cancel memory ${first}`, exact: true }).click();
  await toast(page, "1 job is cancelled").waitFor();
  assert.deepEqual([await statesOf([first]), await statesOf(others)], [["Killed"], ["Pending"]]);
  await page.getByRole("button", { name: "Cancel all open" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel 2 jobs" }).click();
  await toast(page, "2 jobs are cancelled.").waitFor();
  assert.deepEqual(await statesOf(ids), ["Killed"]);
  await api("/v1/queues/htm.tag/resume", {});
  await page.getByRole("button", { name: "Retry all dead letters" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Retry 3 dead letters" }).click();
  await until(() => isDone(ids));
  await page.context().close();
});

test("a budget is set, spent, changed and removed", async () => {
  const namespace = "thrift";
  const [before = 0] = await written(namespace);
  await until(() => isDone([before]));
  const page = await fixture.page("/console/pipeline/providers");
  const stored = (): Promise<string[]> => fixture.server.sql(`select tokens_per_day from htm.budgets where namespace = '${namespace}'`);
  await page.getByRole("button", { name: "Set a budget" }).click();
  await page.getByRole("dialog").getByLabel("Namespace").fill(namespace);
  await page.getByRole("dialog").getByLabel("Tokens a day").fill("1");
  await page.getByRole("button", { name: "Save" }).click();
  const row = page.getByRole("row", { name: namespace }).filter({ has: page.getByRole("button", { name: "Remove" }) });
  await row.getByText("all spent").waitFor();
  const [budget] = await fixture.server.api<{ namespace: string; tokens_per_day: number; tokens_used: number }[]>("/v1/budgets");
  assert.deepEqual([budget?.namespace, budget?.tokens_per_day], [namespace, 1]);
  await row.getByText(`${budget?.tokens_used} of 1 token`).waitFor();
  assert.deepEqual(await stored(), ["1"]);

  const parked = await written(namespace);
  await until(async () => (await fixture.server.api<{ parked: number }[]>("/v1/budgets"))[0]?.parked === 2);
  await page.reload();
  await row.getByRole("link", { name: "2 jobs" }).waitFor();
  await row.getByRole("button", { name: "Change" }).click();
  await page.getByRole("dialog").getByLabel("Tokens a day").fill("1000000");
  await page.getByRole("button", { name: "Save" }).click();
  await toast(page, "2 parked jobs are ready again.").waitFor();
  await row.getByText("of 1,000,000 tokens").waitFor();
  assert.deepEqual(await stored(), ["1000000"]);
  await until(() => isDone(parked));
  await row.getByRole("button", { name: "Remove" }).click();
  await toast(page, "thrift has no budget any more.").waitFor();
  await row.waitFor({ state: "detached" });
  assert.deepEqual(await stored(), []);
  await page.context().close();
});

test("another model is limited, what is not changed stays, and it is undone", async () => {
  const model = "openai/spare";
  await fixture.server.api("/v1/providers", { model, requests_per_minute: 60, concurrent_calls: 4 }, "PATCH");
  const limits = (): Promise<string[]> =>
    fixture.server.sql(`select requests_per_minute, tokens_per_minute, concurrent_calls from htm.providers where model = '${model}'`);
  const page = await fixture.page("/console/pipeline/providers");
  await page.getByRole("button", { name: "Limit another model" }).click();
  const dialog = page.getByRole("dialog", { name: "Limit a model" });
  await dialog.getByLabel("Tokens a minute").fill("5000");
  await dialog.getByLabel("Model, as in").fill(model);
  assert.equal(await dialog.getByLabel("Requests a minute").inputValue(), "60");
  await dialog.getByLabel("Calls at once").fill("");
  // It is set by somebody else, and the page may not know it yet.
  await fixture.server.api("/v1/providers", { model, requests_per_minute: 30 }, "PATCH");
  await dialog.getByRole("button", { name: "Save" }).click();
  const undo = page.locator(".notice", { hasText: `The limits of ${model} are changed.` }).getByRole("button", { name: "Undo" });
  await undo.waitFor();
  assert.deepEqual(await limits(), ["30|5000|"]);
  await undo.click();
  await until(async () => (await limits()).join() === "30||4");
  await page.context().close();
});

test("a provider whose last calls failed is not shown as good before it is left alone", async () => {
  const model = "openai/shaky";
  await fixture.server.api("/v1/providers", { model, concurrent_calls: 4 }, "PATCH");
  const page = await fixture.page("/console/pipeline/providers");
  const row = page.getByRole("row", { name: new RegExp(`^${model} `) });
  await row.getByText("It may be called").waitFor();
  for (const [failures, text] of [[1, "Its last call failed"], [3, "Its last calls failed"]] as const) {
    await fixture.server.sql(`update htm.providers set failures = ${failures} where model = '${model}'`);
    await page.reload();
    await row.getByText(text).waitFor();
    assert.equal(await row.locator(".state-good").count(), 0);
  }
  // As a worker that did not start has noted it.
  await fixture.server.sql(`update htm.providers set failures = 0, reason = 'a worker did not start: Connection refused' where model = '${model}'`);
  await page.reload();
  await row.getByText("It did not work last time").waitFor();
  await row.getByText("a worker did not start: Connection refused").waitFor();
  assert.equal(await row.locator(".state-good").count(), 0);
  await page.context().close();
});

test("tokens are shown by day and namespace, as the database counts them", async () => {
  const page = await fixture.page("/console/pipeline/providers");
  const usage = page.getByRole("region", { name: "Tokens by day" }).first();
  await usage.getByRole("button", { name: "Today" }).click();
  await usage.getByText("Everything").first().waitFor();
  const shown = async (text: string): Promise<string[]> => {
    const rows = await usage.locator("tbody tr").filter({ hasText: text }).all();
    const cells = await Promise.all(rows.map((row) => row.locator("td").allInnerTexts()));
    return cells.map((texts) => texts.filter((text) => text !== "").join("|").replaceAll(",", ""));
  };
  const sums = await fixture.server.sql(`
    select (done_at at time zone 'utc')::date, c.namespace, 'Everything', count(*), sum(token_count)
      from htm.completions c join htm.nodes on id = node_id group by 1, 2`);
  assert.ok(sums.length > 3);
  assert.deepEqual((await shown("Everything")).sort(), sums.sort());
  const parts = await fixture.server.api<{ stage: Stage; model: string; jobs: number; tokens: number }[]>("/v1/usage?days=1");
  const names = { embed: "Embedding", tag: "Tagging" };
  const known = parts.map(({ stage, model, jobs, tokens }) => `${names[stage]} by ${model}|${jobs}|${tokens}`);
  assert.deepEqual((await shown(" by ")).sort(), known.sort());
  await page.context().close();
});

test("a worker shows what it does now", async () => {
  const held = holds();
  ollama.behaviour = held.behaviour;
  const [id = 0] = await written("held");
  const page = await fixture.page("/console/pipeline");
  const row = page.getByRole("region", { name: "Workers" }).getByRole("row").filter({ has: page.getByText("htm.tag", { exact: true }) });
  await row.getByText("Alive").waitFor();
  await row.getByText(`1 job of the memories ${id}`).waitFor();
  const [job] = await fixture.server.sql(`select lock_by from apalis.jobs where job_type = 'htm.tag' and status in ('Running', 'Queued')`);
  await row.getByText(job ?? "", { exact: true }).waitFor();
  await row.getByRole("link", { name: "1 job" }).click();
  await page.getByRole("link", { name: `Memory ${id}`, exact: true }).waitFor();
  held.release();
  ollama.behaviour = works;
  await until(() => isDone([id]));
  await page.getByRole("link", { name: "Overview" }).click();
  await row.getByText("Nothing").waitFor();
  await page.context().close();
});

// The first key makes the server ask everybody for one, so this is the last test.
test("a key is listed and revoked, and no longer lets anybody in", async () => {
  const { url, htm } = fixture.server;
  const created = async (...args: string[]): Promise<{ id: string; secret: string }> => JSON.parse(await htm("keys", "create", "--json", ...args));
  const admin = await created("--role", "admin", "--name", "operator");
  const reader = await created("--role", "reader", "--name", "<b>guest</b>", "--namespace", "letters");
  const status = async (): Promise<number> => (await fetch(`${url}/v1/memories`, { headers: { Authorization: `Bearer ${reader.secret}` } })).status;
  assert.equal(await status(), 200);
  const page = await fixture.page("/console/keys");
  const signIn = page.getByRole("heading", { name: "Sign in" });
  await until(async () => {
    await page.reload();
    return signIn.waitFor({ timeout: 1_000 }).then(() => true);
  });
  await page.getByLabel("Key", { exact: true }).fill(admin.secret);
  await page.getByRole("button", { name: "Sign in" }).click();
  const row = page.getByRole("row").filter({ hasText: reader.id });
  await row.getByText("<b>guest</b>").waitFor();
  await row.getByText("letters", { exact: true }).waitFor();
  await row.getByText("valid", { exact: true }).waitFor();
  await row.getByRole("button", { name: "Revoke" }).click();
  const dialog = page.getByRole("dialog", { name: "Revoke the key <b>guest</b>?" });
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await toast(page, "The key <b>guest</b> is revoked.").waitFor();
  await row.getByText("revoked").waitFor();
  assert.equal(await row.getByRole("button").count(), 0);
  assert.equal(await status(), 401);
  assert.deepEqual(await fixture.server.sql("select id from htm.api_keys where revoked_at is not null"), [reader.id]);
  await page.context().close();
});
