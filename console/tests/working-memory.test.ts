import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { NAMESPACE, fixture, ids, named, pageOf, savedOf, withInMind, workingOf, type Working } from "./minds.js";

const BUDGET = 120;

function rowOf(page: Page, node: number | undefined): Locator {
  return page.getByRole("row", { name: `Memory ${node} ` });
}

/** The bar, the list and its rows say what the server says. */
async function agrees(page: Page, robot: string): Promise<Working> {
  const working = await workingOf(robot);
  const { tokens, max_tokens, nodes } = working.stats;
  const bar = page.getByRole("img", { name: `${tokens} of ${max_tokens} tokens are used by ${nodes} memories.` });
  await bar.waitFor();
  const widths = await bar.locator("> span").evaluateAll((parts) => parts.map((part) => Number.parseFloat((part as unknown as { style: { width: string } }).style.width)));
  assert.deepEqual(widths.map(Math.round), working.nodes.map((entry) => Math.round((100 * entry.tokens) / max_tokens)));
  await page.getByText(`${max_tokens - tokens} tokens free`).waitFor();
  const table = page.getByRole("table", { name: "Working memory, in the order of eviction" });
  assert.deepEqual(await named(table.getByRole("link")), working.nodes.map(({ node }) => node));
  assert.deepEqual(await savedOf(robot), working.nodes.map(({ node }) => node).sort((a, b) => a - b));
  return working;
}

test("the bar of a robot and what leaves next agree with the server, and so it leaves", async () => {
  await withInMind("bob", ids.slice(0, 6), BUDGET);
  const page = await pageOf("bob");
  const { nodes, stats } = await agrees(page, "bob");
  const next = nodes[0]?.node;
  assert.equal(next, ids[0], "the least important, and of these the first");
  const row = rowOf(page, next);
  await row.getByText("next", { exact: true }).waitFor();
  await row.getByText("Importance 3, added first of 2").waitFor();
  await row.getByText(`Leaves when more than ${stats.max_tokens - stats.tokens} tokens come in`).waitFor();

  // The next one that comes in needs more than what is free.
  const last = ids[7] ?? 0;
  await page.getByLabel("Add a memory: its number, or words that it is found by").fill(`#${last}`);
  const found = page.getByRole("region", { name: "Add a memory" }).getByRole("listitem").filter({ hasText: `Memory ${last} ` });
  await found.getByText(`#${next} would leave for it`).waitFor();
  await found.getByRole("button", { name: `Add memory ${last}` }).click();
  const notice = page.locator(".notice", { hasText: `Memory ${last} is in working memory now; #${next} left for it.` });
  await notice.waitFor();
  await found.getByText("in working memory", { exact: true }).waitFor();
  const after = await agrees(page, "bob");
  assert.deepEqual(new Set(after.nodes.map(({ node }) => node)), new Set([...ids.slice(1, 6), last]));

  await notice.getByRole("button", { name: "Undo" }).click();
  await found.getByRole("button", { name: `Add memory ${last}` }).waitFor();
  await agrees(page, "bob");
  assert.deepEqual(await savedOf("bob"), ids.slice(0, 6));
  await page.context().close();
});

test("memories are used, weighed and removed, the budget changes, and the database agrees", async () => {
  await withInMind("eve", ids.slice(0, 6), BUDGET);
  const page = await pageOf("eve");
  const { nodes } = await agrees(page, "eve");
  const [first = 0, second = 0] = nodes.map(({ node }) => node);

  await rowOf(page, second).getByRole("button", { name: "Mark as used" }).click();
  await rowOf(page, second).getByText(/^1 time(?!s)/).waitFor();
  const used = `select w.accesses from htm.working_memory w join htm.robots r on r.id = w.robot_id where r.name = 'eve' and w.node_id = ${second}`;
  assert.deepEqual(await fixture.server.sql(used), ["1"]);

  // The most important memory leaves last.
  await rowOf(page, first).getByRole("button", { name: "Importance …" }).click();
  const weigh = page.getByRole("dialog", { name: `Importance of memory ${first}` });
  await weigh.getByLabel("Importance, 1 to 10").fill("10");
  await weigh.getByRole("button", { name: "Change it" }).click();
  await rowOf(page, first).getByText("Importance 10, the only one").waitFor();
  assert.equal((await agrees(page, "eve")).nodes.at(-1)?.node, first);
  const importance = `select importance from htm.nodes where id = ${first}`;
  assert.deepEqual(await fixture.server.sql(importance), ["10"]);
  await page.locator(".notice", { hasText: "has the importance 10 now" }).getByRole("button", { name: "Undo" }).click();
  await rowOf(page, first).getByText("next", { exact: true }).waitFor();
  assert.deepEqual(await fixture.server.sql(importance), ["3"]);

  await rowOf(page, first).getByRole("button", { name: "Remove" }).click();
  await rowOf(page, first).waitFor({ state: "detached" });
  await agrees(page, "eve");
  assert.ok(!(await savedOf("eve")).includes(first));
  assert.deepEqual(await fixture.server.sql(`select deleted_at is null from htm.nodes where id = ${first}`), ["t"]);
  await page.locator(".notice", { hasText: "It is still remembered" }).getByRole("button", { name: "Undo" }).click();
  await rowOf(page, first).waitFor();
  const { stats } = await agrees(page, "eve");

  await page.getByRole("button", { name: "Change the budget …" }).click();
  const budget = page.getByRole("dialog", { name: "Budget of eve" });
  await budget.getByLabel("Tokens, 1 to 1,000,000,000").fill(String(stats.tokens));
  await budget.getByText(`Everything in working memory fits: ${stats.tokens} tokens.`).waitFor();
  await budget.getByLabel("Tokens, 1 to 1,000,000,000").fill(String(stats.tokens - 1));
  await budget.getByText(/^1 memory with \d+ tokens would not fit any more/).waitFor();
  await budget.getByRole("button", { name: "Set the budget" }).click();
  await page.getByRole("img", { name: / tokens are used by 5 memories\./ }).waitFor();
  assert.equal((await savedOf("eve")).length, 5);
  const saved = `select max_tokens from htm.robots where namespace = '${NAMESPACE}' and name = 'eve'`;
  assert.deepEqual(await fixture.server.sql(saved), [String(stats.tokens - 1)]);
  assert.equal((await workingOf("eve")).stats.nodes, 5);
  await page.locator(".notice", { hasText: "The budget is" }).getByRole("button", { name: "Undo" }).click();
  await page.getByRole("img", { name: `${stats.tokens} of ${BUDGET} tokens are used by 6 memories.` }).waitFor();
  assert.deepEqual(await fixture.server.sql(saved), [String(BUDGET)]);
  await agrees(page, "eve");

  await page.getByRole("button", { name: "Empty it …" }).click();
  await page.getByRole("dialog", { name: "Empty the working memory" }).getByRole("button", { name: "Empty it" }).click();
  await page.getByText("This working memory is empty.").waitFor();
  assert.deepEqual(await savedOf("eve"), []);
  await page.context().close();
});

test("the robots of another namespace are awaited without the former ones", async () => {
  await withInMind("gus", [], BUDGET);
  await fixture.server.api("/v1/memories", { content: "The lift stops at floor 3.", namespace: "lab", robot: "una" });
  const page = await fixture.page(`/console/working-memory?namespace=${NAMESPACE}`);
  const list = page.getByRole("region", { name: "Robots and groups" });
  await list.getByRole("link", { name: "gus" }).waitFor();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/v1/robots?*namespace=lab*", async (route) => {
    await released;
    await route.continue().catch(() => undefined); // it was aborted meanwhile
  });
  await page.getByLabel("Namespace").selectOption("lab");
  await list.getByText("Loading").waitFor();
  assert.equal(await list.getByRole("link").count(), 0);
  release();
  await list.getByRole("link", { name: "una" }).waitFor();
  await page.context().close();
});
