import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { startedFixture } from "./fixture.js";
import { until } from "./server.js";

interface Tag {
  tag: string;
  nodes: number;
  total: number;
}

interface Change {
  change: number;
  kind: string;
  reverted_by: number | null;
}

const NAMESPACE = "atlas";
const fixture = startedFixture();

async function tags(): Promise<Map<string, Tag>> {
  const { tags } = await fixture.server.api<{ tags: Tag[] }>(`/v1/tags?namespace=${NAMESPACE}&limit=10000`);
  return new Map(tags.map((tag) => [tag.tag, tag]));
}

async function latest(): Promise<Change> {
  const { changes } = await fixture.server.api<{ changes: Change[] }>(`/v1/tags/log?namespace=${NAMESPACE}&limit=1`);
  assert.ok(changes[0]);
  return changes[0];
}

async function written(content: string, ...tags: string[]): Promise<number> {
  const memory = { content, tags, namespace: NAMESPACE, robot: "ada" };
  return (await fixture.server.api<{ node: number }>("/v1/memories", memory)).node;
}

function row(page: Page, tag: string): Locator {
  return page.locator(`[role=treeitem][title="${tag}"]`);
}

async function choose(page: Page, tag: string, act: string): Promise<Locator> {
  await row(page, tag).locator(".tag-row-menu").click();
  await page.getByRole("menuitem", { name: act }).click();
  return page.getByRole("dialog");
}

test("the tree is folded, searched and drawn, with the numbers of the database", async () => {
  const all = await tags();
  const page = await fixture.page(`/console/tags?namespace=${NAMESPACE}`);
  const parent = [...all.keys()].find((tag) => !tag.includes(":") && [...all.keys()].some((it) => it.startsWith(`${tag}:`)));
  assert.ok(parent);
  const below = [...all.keys()].filter((tag) => tag.startsWith(`${parent}:`) && tag.split(":").length === 2);
  await row(page, parent).waitFor();
  assert.equal(await row(page, below[0] ?? "").count(), 0);
  await row(page, parent).locator(".tag-row-fold").click();
  for (const tag of below) await row(page, tag).waitFor();
  const label = await row(page, parent).getAttribute("aria-label");
  const { nodes = 0, total = 0 } = all.get(parent) ?? {};
  assert.match(label ?? "", new RegExp(`^${parent}, ${total} memor(y|ies), ${nodes} of them`));
  // A screen reader cannot count rows that are not in the page.
  const roots = [...all.keys()].filter((tag) => !tag.includes(":"));
  assert.equal(await row(page, parent).getAttribute("aria-setsize"), String(roots.length));
  assert.equal(await row(page, below[0] ?? "").getAttribute("aria-setsize"), String(below.length));
  const positions = await Promise.all(below.map((tag) => row(page, tag).getAttribute("aria-posinset")));
  assert.deepEqual(positions.map(Number).toSorted((one, other) => one - other), below.map((_, index) => index + 1));
  // The keyboard folds it again.
  await row(page, parent).focus();
  await page.keyboard.press("ArrowLeft");
  await row(page, below[0] ?? "").waitFor({ state: "detached" });

  // Letters that follow each other are of one name.
  await page.keyboard.type("performance");
  await row(page, "performance").and(page.locator(":focus")).waitFor();

  const found = [...all.keys()].filter((tag) => tag.split(":").at(-1)?.includes("post"));
  assert.ok(found.length > 0);
  await page.getByLabel("Find a tag").fill("post");
  await page.getByRole("status").filter({ hasText: `${found.length} tag` }).waitFor();
  for (const tag of found) await row(page, tag).waitFor();
  await page.getByLabel("Find a tag").fill("");

  const tile = page.getByRole("region", { name: "Map of the tags" }).getByRole("link", { name: `${parent}, ` });
  assert.match((await tile.getAttribute("aria-label")) ?? "", new RegExp(`^${parent}, ${total} `));
  await tile.click();
  await page.waitForURL((url) => url.searchParams.get("tag") === parent);
  await page.getByRole("heading", { name: parent, exact: true }).first().waitFor();
  await page.context().close();
});

test("a tag is renamed with a preview, and the history undoes it", async () => {
  await written("The kettle is in the kitchen.", "kitchenware:kettle");
  const page = await fixture.page(`/console/tags?namespace=${NAMESPACE}`);
  const dialog = await choose(page, "kitchenware", "Rename or move");
  await dialog.getByLabel("New name").fill("household");
  const preview = dialog.getByRole("region", { name: "What will change" });
  await preview.getByText("household:kettle").waitFor();
  assert.ok((await tags()).has("kitchenware:kettle"), "a preview changes nothing");
  await dialog.getByRole("button", { name: "Rename", exact: true }).click();
  await row(page, "household").waitFor();
  const renamed = await tags();
  assert.ok(renamed.has("household:kettle") && !renamed.has("kitchenware:kettle"));
  const { change } = await latest();

  await page.getByRole("link", { name: "History" }).click();
  await page.getByRole("button", { name: `change ${change}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Undo it" }).click();
  await page.getByText(/Undone by change \d+/).first().waitFor();
  const undone = await tags();
  assert.ok(undone.has("kitchenware:kettle") && !undone.has("household:kettle"));
  assert.equal((await latest()).kind, "revert");
  await page.context().close();
});

test("a tag is split by a worker, and the memories have the new tags", async () => {
  const page = await fixture.page(`/console/tags?namespace=${NAMESPACE}`);
  const before = (await tags()).get("performance");
  assert.ok(before && before.nodes > 0);
  const dialog = await choose(page, "performance", "Split into several");
  await dialog.getByLabel("Tag", { exact: true }).first().fill("performance:latency");
  await dialog.getByLabel("Tag", { exact: true }).last().fill("performance:retry");
  await dialog.getByRole("region", { name: "What will change" }).getByText("performance:latency").waitFor();
  await dialog.getByRole("button", { name: "Split", exact: true }).click();
  await page.getByText(/performance split: \d+ memor/).waitFor();
  const { change, kind } = await latest();
  assert.equal(kind, "split");
  const counts = async (): Promise<number[]> => {
    const all = await tags();
    return ["performance:latency", "performance:retry"].map((tag) => all.get(tag)?.nodes ?? 0);
  };
  await until(async () => {
    const waiting = await fixture.server.api<{ due: number; running: number }[]>("/v1/queues");
    return waiting.every(({ due, running }) => due + running === 0) && (await counts()).some((nodes) => nodes > 0);
  });
  // The page follows by itself.
  const [latency = 0, retry = 0] = await counts();
  await row(page, "performance").locator(".tag-row-fold").click();
  await row(page, "performance:latency").and(page.locator(`[aria-label^="latency, ${latency} "]`)).waitFor();
  const rows = await fixture.server.sql(
    `select count(distinct n.node_id) from htm.node_tags n join htm.tags t on t.id = n.tag_id
      where t.namespace = '${NAMESPACE}' and t.path in ('performance:latency', 'performance:retry')`,
  );
  assert.ok(latency + retry >= Number(rows[0]) && Number(rows[0]) > 0);

  await page.getByRole("link", { name: "History" }).click();
  await page.getByRole("button", { name: `change ${change}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Undo it" }).click();
  await until(async () => (await tags()).get("performance")?.nodes === before.nodes);
  await page.context().close();
});

test("a suggestion is accepted, another one is refused, and the server keeps both", async () => {
  for (const pair of [["garden:tomato", "garden:tomatoe"], ["orchard:apple", "orchard:apples-red"]]) {
    for (const tag of pair) await written(`One of the plants is called ${tag.replace(":", " ")}.`, tag);
    await written(`It is written ${pair.join(" or ")}.`, ...pair);
    await written(`Some say ${pair.join(", some say ")}.`, ...pair);
  }
  const page = await fixture.page(`/console/tags?namespace=${NAMESPACE}&part=suggestions`);
  const card = (text: string): Locator => page.getByRole("listitem").filter({ hasText: "may be the same as" }).filter({ hasText: text });
  await card("tomatoe").getByRole("button", { name: "Merge" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge", exact: true }).click();
  await card("tomatoe").waitFor({ state: "detached" });
  const merged = [...(await tags()).keys()].filter((tag) => tag.startsWith("garden:"));
  assert.equal(merged.length, 1, merged.join(", "));

  await card("orchard:apple").getByRole("button", { name: "They differ" }).click();
  await card("orchard:apple").waitFor({ state: "detached" });
  const distinct = (): Promise<unknown[]> => fixture.server.api(`/v1/tags/distinct?namespace=${NAMESPACE}`);
  assert.equal((await distinct()).length, 1);
  assert.equal((await latest()).kind, "mark_distinct");
  // In another browser too.
  const other = await fixture.page(`/console/tags?namespace=${NAMESPACE}&part=suggestions`);
  await other.getByText("1 pair marked as distinct").click();
  await other.getByRole("button", { name: "Suggest again" }).click();
  await other.getByRole("listitem").filter({ hasText: "may be the same as" }).filter({ hasText: "orchard:apple" }).waitFor();
  assert.deepEqual(await distinct(), []);
  await other.context().close();
  await page.context().close();
});

test("a history that could not be read anew begins anew, without what was read before", async () => {
  const change = async (tag: string): Promise<number> => {
    await fixture.server.api("/v1/tags/add", { namespace: NAMESPACE, tags: [{ tag }] });
    return (await latest()).change;
  };
  const first = await change("stairs");
  const second = await change("stairs:cellar");
  const page = await fixture.page(`/console/tags?namespace=${NAMESPACE}`);
  let isBroken = false;
  // Pages of one change.
  await page.route("**/v1/tags/log?*", (route) => {
    if (!isBroken) return route.continue({ url: route.request().url().replace(/limit=\d+/, "limit=1") });
    const body = JSON.stringify({ code: "internal", detail: "The disk is full." });
    return route.fulfill({ status: 500, contentType: "application/problem+json", body });
  });
  await page.getByRole("link", { name: "History" }).click();
  const shows = async (...changes: number[]): Promise<void> => {
    const ids = async (): Promise<string[]> => (await page.getByText(/^Change \d+ ·/).allInnerTexts()).map((text) => /\d+/.exec(text)?.[0] ?? "");
    await until(async () => String(await ids()) === String(changes), 5_000, () => `the changes are not ${changes}`);
  };
  await shows(second);
  await page.getByRole("button", { name: "Show more" }).click();
  await shows(second, first);
  const third = await change("stairs:attic");
  isBroken = true;
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByText("The disk is full.").waitFor();
  await shows(second, first);
  isBroken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await shows(third);
  // A page that failed is read after those before it.
  isBroken = true;
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByText("The disk is full.").waitFor();
  isBroken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await shows(third, second);
  await page.context().close();
});

test("tags of a memory are added and removed", async () => {
  const id = await written("The lamp in the hall is broken.", "repair:lamp");
  const tagsOf = async (): Promise<string[]> => (await fixture.server.api<{ tags: string[] }>(`/v1/memories/${id}`)).tags;
  const page = await fixture.page(`/console/memories/${id}`);
  await page.getByLabel("Add a tag").fill("House: Hall");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("button", { name: "Remove house:hall" }).waitFor();
  assert.ok((await tagsOf()).includes("house:hall"));
  await page.getByRole("button", { name: "Remove repair:lamp" }).click();
  await page.getByText("Removed the tag repair:lamp.").waitFor();
  assert.ok(!(await tagsOf()).includes("repair:lamp"));
  await page.context().close();
});

test("a memory is erased for good, with a receipt", async () => {
  const id = await written("The number of the safe is 4711.", "safe");
  const page = await fixture.page(`/console/memories/${id}`);
  await page.getByRole("button", { name: "Erase" }).click();
  const dialog = page.getByRole("dialog");
  const confirm = dialog.getByRole("button", { name: "Erase for good" });
  await dialog.getByText(/This will go: \d+ rows/).waitFor();
  assert.ok(await confirm.isDisabled());
  await dialog.getByLabel(`Type ${id} to confirm`).fill(String(id));
  await confirm.click();
  await page.getByRole("heading", { name: "This memory is erased" }).waitFor();
  const rows = await fixture.server.sql(`select count(*) from htm.nodes where id = ${id} or content like '%4711%'`);
  assert.equal(Number(rows[0]), 0);
  const [receipt] = (await fixture.server.api<{ erasures: { id: number; erased: number }[] }>("/v1/erasures")).erasures;
  assert.equal(receipt?.erased, 1);
  await page.getByRole("region", { name: "Receipt" }).getByRole("heading", { name: `Receipt ${receipt?.id}` }).waitFor();
  await page.getByRole("button", { name: "Look for traces" }).click();
  await page.getByText(/No trace/).waitFor();
  await page.context().close();
});
