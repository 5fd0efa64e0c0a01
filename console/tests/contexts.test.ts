import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { NAMESPACE, fixture, ids, named, pageOf, savedOf, withInMind, workingOf } from "./minds.js";
import { until } from "./server.js";

const STRATEGIES = ["Balanced", "Recent", "Important", "Frequent"] as const;

interface Context {
  text: string;
  tokens: number;
  included: number[];
  left_out: { node: number }[];
}

/** The column of a strategy has this context. Its text is in what the button copies too. */
async function shows(page: Page, strategy: string, { text, included, left_out }: Context): Promise<void> {
  const column = page.getByRole("region", { name: strategy, exact: true });
  await until(async () => (await column.getByRole("region", { name: `The text, ${strategy}`, includeHidden: true }).textContent()) === text);
  assert.deepEqual(await named(column.locator(".included >> nth=0").getByRole("link")), included, strategy);
  const left = await column.getByText(/^Left out: \d+$/).allInnerTexts();
  assert.deepEqual(left, left_out.length > 0 ? [`Left out: ${left_out.length}`] : [], strategy);
  await column.getByRole("button", { name: /^Copy/ }).click();
  await page.getByText(`The text of “${strategy}” is copied.`).last().waitFor();
  await until(async () => (await page.evaluate("navigator.clipboard.readText()")) === text);
}

function contextOf(robot: string, strategy: string, more: object, filter: object = {}): Promise<Context> {
  const asked = { robot, strategy: strategy.toLowerCase(), filter: { namespaces: [NAMESPACE], ...filter }, ...more };
  return fixture.server.api("/v1/context", asked);
}

test("the context of each strategy is what the server assembles, before a question, for it and after it", async () => {
  const held = ids.slice(0, 6);
  const query = "Which van was washed at depot 1?";
  // A question changes what is in mind, so each strategy asks a robot of its own.
  for (const robot of ["zoe", ...STRATEGIES]) {
    await withInMind(robot, held, 1_000);
    await fixture.server.api(`/v1/robots/${robot}/working-memory`, { namespace: NAMESPACE, nodes: [ids[2]] });
  }
  const page = await pageOf("zoe", "&part=context", { permissions: ["clipboard-read", "clipboard-write"] });
  const texts = new Set<string>();
  for (const strategy of STRATEGIES) {
    const context = await contextOf("zoe", strategy, { max_tokens: 4_000 });
    assert.equal(context.included.length, held.length);
    await shows(page, strategy, context);
    texts.add(context.text);
  }
  assert.ok(texts.size > 2, "the strategies differ");
  const most = page.getByLabel("At most tokens");
  await most.fill("60");
  await most.press("Enter");
  for (const strategy of STRATEGIES) {
    const context = await contextOf("zoe", strategy, { max_tokens: 60 });
    assert.ok(context.left_out.length > 0);
    await shows(page, strategy, context);
  }
  await most.fill("4000");
  await most.press("Enter");

  // The page works out what a question would lead to, and changes nothing.
  const before = await workingOf("zoe");
  await page.getByLabel("A question for zoe; empty: only what is in mind now").fill(query);
  await page.getByText("If it is asked: 2 memories come in, 6 memories are in mind already").waitFor();
  const asked = new Map<string, Context>();
  for (const strategy of STRATEGIES) {
    const context = await contextOf(strategy, strategy, { query, max_tokens: 4_000 });
    await shows(page, strategy, context);
    asked.set(strategy, context);
  }
  assert.deepEqual(await workingOf("zoe"), before);

  await page.getByRole("button", { name: "Bring them into mind …" }).click();
  await page.getByRole("dialog", { name: "Bring what is found into mind" }).getByRole("button", { name: "Bring it in" }).click();
  await page.getByText("2 memories came into mind.").waitFor();
  assert.deepEqual(await savedOf("zoe"), ids);
  for (const strategy of STRATEGIES) {
    const context = await contextOf("zoe", strategy, { max_tokens: 4_000 });
    assert.equal(context.text, asked.get(strategy)?.text, strategy);
    await shows(page, strategy, context);
  }
  await page.locator(".notice", { hasText: "came into mind" }).getByRole("button", { name: "Undo" }).click();
  await until(async () => (await savedOf("zoe")).length === held.length);
  assert.deepEqual(await savedOf("zoe"), held);
  await page.context().close();
});

test("the options of contexts are those of the server, without a question and with one", async () => {
  const query = "Which van was washed at depot 1?";
  const held = ids.slice(0, 5);
  for (const robot of ["joy", ...STRATEGIES.map((name) => `joy ${name}`)]) await withInMind(robot, held, 1_000);
  const page = await pageOf("joy", "&part=context", { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByText("More options").click();
  const separator = page.getByLabel("Between two memories (\\n: a new line)");
  await separator.fill("\\n---\\n");
  await separator.press("Enter");
  await page.getByLabel("Least importance").selectOption("5");
  const options = { separator: "\n---\n", max_tokens: 4_000 };
  const filter = { min_importance: 5 };
  for (const strategy of STRATEGIES) {
    const context = await contextOf("joy", strategy, options, filter);
    assert.equal(context.included.length, 3);
    assert.match(context.text, /\n---\n/);
    await shows(page, strategy, context);
  }
  // The address holds them.
  await page.reload();
  const most = page.getByLabel("At most memories by the question");
  await most.fill("3");
  await most.press("Enter");
  await page.getByLabel("A question for joy; empty: only what is in mind now").fill(query);
  await page.getByText(/^If it is asked: /).waitFor();
  for (const strategy of STRATEGIES) {
    await shows(page, strategy, await contextOf(`joy ${strategy}`, strategy, { ...options, query, limit: 3 }, filter));
  }
  await page.context().close();
});

test("nothing serious is found by axe on the page of a robot, at any width", async () => {
  await withInMind("ivy", ids.slice(0, 6), 120);
  const path = `/console/working-memory?namespace=${NAMESPACE}&robot=ivy`;
  await fixture.checkAccess(path, (page) => page.getByRole("table", { name: "What is in mind" }).waitFor());
  const asked = `${path}&part=context&tokens=60&q=${encodeURIComponent("Which van was washed at depot 1?")}`;
  await fixture.checkAccess(asked, async (page) => {
    await page.getByText(/^If it is asked: /).waitFor();
    await page.getByText("The text", { exact: true }).first().click();
    await page.getByText(/^Left out: /).first().click();
  });
});
