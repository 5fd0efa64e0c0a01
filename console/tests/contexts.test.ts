import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { NAMESPACE, fixture, ids, named, pageOf, savedOf, withInMind, workingOf } from "./minds.js";
import { until } from "./server.js";

const ORDERS = ["Balanced", "Recent", "Important", "Frequent"] as const;

interface Context {
  text: string;
  tokens: number;
  included: number[];
  left_out: { node: number; reason: string }[];
}

/** The column of an order has this context. Its text is in what the button copies too. */
async function shows(page: Page, order: string, { text, included, left_out }: Context): Promise<void> {
  const column = page.getByRole("region", { name: order, exact: true });
  await until(async () => (await column.getByRole("region", { name: `The text, ${order}`, includeHidden: true }).textContent()) === text);
  assert.deepEqual(await named(column.locator(".included >> nth=0").getByRole("link")), included, order);
  const left = await column.getByText(/^Left out: \d+$/).allInnerTexts();
  assert.deepEqual(left, left_out.length > 0 ? [`Left out: ${left_out.length}`] : [], order);
  await column.getByRole("button", { name: /^Copy/ }).click();
  await page.getByText(`The text of “${order}” is copied.`).last().waitFor();
  await until(async () => (await page.evaluate("navigator.clipboard.readText()")) === text);
}

function contextOf(robot: string, order: string, more: object, filter: object = {}): Promise<Context> {
  const asked = { robot, order: order.toLowerCase(), filter: { namespaces: [NAMESPACE], ...filter }, ...more };
  return fixture.server.api("/v1/context", asked);
}

test("the context of each order is what the server assembles, before a question, for it and after it", async () => {
  const held = ids.slice(0, 6);
  const query = "Which van was washed at depot 1?";
  // A question changes a working memory, so each order asks a robot of its own.
  for (const robot of ["zoe", ...ORDERS]) {
    await withInMind(robot, held, 1_000);
    await fixture.server.api(`/v1/robots/${robot}/working-memory`, { namespace: NAMESPACE, nodes: [ids[2]] });
  }
  const page = await pageOf("zoe", "&part=context", { permissions: ["clipboard-read", "clipboard-write"] });
  const texts = new Set<string>();
  for (const order of ORDERS) {
    const context = await contextOf("zoe", order, { max_tokens: 4_000 });
    assert.equal(context.included.length, held.length);
    await shows(page, order, context);
    texts.add(context.text);
  }
  assert.ok(texts.size > 2, "the orders differ");
  const most = page.getByLabel("At most tokens");
  await most.fill("60");
  await most.press("Enter");
  for (const order of ORDERS) {
    const context = await contextOf("zoe", order, { max_tokens: 60 });
    assert.ok(context.left_out.length > 0);
    await shows(page, order, context);
  }
  await most.fill("4000");
  await most.press("Enter");

  // The page works out what a question would lead to, and changes nothing.
  const before = await workingOf("zoe");
  await page.getByLabel("A question for zoe; empty: its working memory alone").fill(query);
  await page.getByText("If it is asked: 2 memories come in, 6 memories are in working memory already").waitFor();
  const asked = new Map<string, Context>();
  for (const order of ORDERS) {
    const context = await contextOf(order, order, { query, max_tokens: 4_000 });
    await shows(page, order, context);
    asked.set(order, context);
  }
  assert.deepEqual(await workingOf("zoe"), before);

  await page.getByRole("button", { name: "Add them to working memory …" }).click();
  await page.getByRole("dialog", { name: "Add what is found to working memory" }).getByRole("button", { name: "Add it" }).click();
  await page.getByText("2 memories came into working memory.").waitFor();
  assert.deepEqual(await savedOf("zoe"), ids);
  for (const order of ORDERS) {
    const context = await contextOf("zoe", order, { max_tokens: 4_000 });
    // Without the question, its hits are no longer first.
    assert.deepEqual([...context.included].sort(), [...(asked.get(order)?.included ?? [])].sort(), order);
    await shows(page, order, context);
  }
  await page.locator(".notice", { hasText: "came into working memory" }).getByRole("button", { name: "Undo" }).click();
  await until(async () => (await savedOf("zoe")).length === held.length);
  assert.deepEqual(await savedOf("zoe"), held);
  await page.context().close();
});

test("the options of contexts are those of the server, without a question and with one", async () => {
  const query = "Which van was washed at depot 1?";
  const held = ids.slice(0, 5);
  for (const robot of ["joy", ...ORDERS.map((name) => `joy ${name}`)]) await withInMind(robot, held, 1_000);
  const page = await pageOf("joy", "&part=context", { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByText("More options").click();
  const separator = page.getByLabel("Between two memories (\\n: a new line)");
  await separator.fill("\\n---\\n");
  await separator.press("Enter");
  await page.getByLabel("Least importance").selectOption("5");
  const options = { separator: "\n---\n", max_tokens: 4_000 };
  const filter = { min_importance: 5 };
  for (const order of ORDERS) {
    const context = await contextOf("joy", order, options, filter);
    assert.equal(context.included.length, 3);
    assert.match(context.text, /\n---\n/);
    assert.deepEqual(context.left_out.map(({ reason }) => reason), ["filtered", "filtered"]);
    await shows(page, order, context);
  }
  // The filter was asked for: what it leaves out is no warning.
  assert.equal(await page.getByText(/\d+ left out$/).count(), 0);
  // The address holds them.
  await page.reload();
  const most = page.getByLabel("At most memories by the question");
  await most.fill("3");
  await most.press("Enter");
  await page.getByLabel("A question for joy; empty: its working memory alone").fill(query);
  await page.getByText(/^If it is asked: /).waitFor();
  for (const order of ORDERS) {
    await shows(page, order, await contextOf(`joy ${order}`, order, { ...options, query, limit: 3 }, filter));
  }
  await page.context().close();
  const empty = await pageOf("joy", "&part=context&importance=10");
  await empty.getByText("There is nothing to make a context of.").waitFor();
  await empty.context().close();
});

test("superseded memories come last in the contexts of a question, each behind its successor", async () => {
  const query = "Which van was washed at depot 1?";
  for (const robot of ["max", ...ORDERS.map((name) => `max ${name}`)]) await withInMind(robot, ids, 1_000);
  for (const index of [1, 4]) {
    const relation = { kind: "supersedes", to: ids[index], namespace: NAMESPACE, any_robot: true };
    await fixture.server.api(`/v1/memories/${ids[index + 1]}/relations`, relation);
  }
  await fixture.server.api(`/v1/memories/${ids[4]}/relations`, { kind: "supersedes", to: ids[2], namespace: NAMESPACE, any_robot: true });
  const parameters = `&part=context&hits=1&q=${encodeURIComponent(query)}`;
  const page = await pageOf("max", parameters, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByText(/^If it is asked: /).waitFor();
  for (const order of ORDERS) {
    const context = await contextOf(`max ${order}`, order, { query, limit: 1, max_tokens: 4_000 });
    assert.deepEqual(context.included.slice(-3), [ids[4], ids[2], ids[1]], order);
    await shows(page, order, context);
  }
  await page.context().close();
});

test("nothing serious is found by axe on the page of a robot, at any width", async () => {
  await withInMind("ivy", ids.slice(0, 6), 120);
  const path = `/console/working-memory?namespace=${NAMESPACE}&robot=ivy`;
  await fixture.checkAccess(path, (page) => page.getByRole("table", { name: "Working memory, in the order of eviction" }).waitFor());
  const asked = `${path}&part=context&tokens=60&q=${encodeURIComponent("Which van was washed at depot 1?")}`;
  await fixture.checkAccess(asked, async (page) => {
    await page.getByText(/^If it is asked: /).waitFor();
    await page.getByText("The text", { exact: true }).first().click();
    await page.getByText(/^Left out: /).first().click();
  });
});
