import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { NAMESPACE, column, countsOf, drag, fixture, press } from "./history.js";
import { until } from "./server.js";

/** What the chart is zoomed to, from years to minutes: what a bar is, and which bars are selected next. */
const ZOOMS = [
  { bar: "a year", bin: "1 year", from: 34, until: 35, next: "2024-01-01T00:00:00Z..2025-01-01T00:00:00Z" },
  { bar: "a week", bin: "7 days", from: 10, until: 11, next: "2024-03-11T00:00:00Z..2024-03-18T00:00:00Z" },
  { bar: "3 hours", bin: "3 hours", from: 35, until: 36, next: "2024-03-15T09:00:00Z..2024-03-15T12:00:00Z" },
  { bar: "2 minutes", bin: "2 minutes", from: 37, until: 53, next: "2024-03-15T10:14:00Z..2024-03-15T10:46:00Z" },
  { bar: "a minute", bin: "1 minute", from: 0, until: 5, next: "2024-03-15T10:14:00Z..2024-03-15T10:19:00Z" },
] as const;

type Zoom = (typeof ZOOMS)[number];

/** The chart has the bars of the database, and the list as many memories. */
async function shows(page: Page, { bar, bin }: Zoom, timeframe: string | null): Promise<void> {
  await page.getByText(`Each bar is ${bar}. `).waitFor();
  const time = bin === "1 year" ? "date_trunc('year', created_at, 'UTC')" : `date_bin('${bin}', created_at, '2024-01-01Z')`;
  const [from, end] = timeframe?.split("..") ?? ["-infinity", "infinity"];
  const bars = await fixture.server.sql(`
    select count(*) from htm.nodes where namespace = '${NAMESPACE}' and created_at >= '${from}' and created_at < '${end}'
     group by ${time} order by ${time}`);
  await until(async () => String(await column(page, "Memories")) === String(bars), 5_000, () => `the bars are not ${bars}`);
  const sum = bars.reduce((sum, count) => sum + Number(count), 0);
  await page.getByRole("status").filter({ hasText: new RegExp(`^${sum} memories, .* the latest first$`) }).waitFor();
}

async function zoomed(page: Page, select: typeof drag, zoom: (button: Locator) => Promise<void>): Promise<void> {
  let timeframe: string | null = null;
  for (const step of ZOOMS) {
    await shows(page, step, timeframe);
    await select(page, step.from, step.until);
    await page.waitForURL((url) => url.searchParams.get("selected") === step.next);
    await zoom(page.getByRole("button", { name: "Zoom to selection" }));
    await page.waitForURL((url) => url.searchParams.get("time") === step.next && !url.searchParams.has("selected"));
    timeframe = step.next;
  }
  await page.getByRole("status").filter({ hasText: /^5 memories, / }).waitFor();
}

test("the chart is zoomed from years to minutes by pointer, and the browser goes back", async () => {
  const page = await fixture.page(`/console/timeline?namespace=${NAMESPACE}`);
  await zoomed(page, drag, (button) => button.click());
  // Each selection and each zoom is a place in the history.
  for (const [index, step] of [...ZOOMS.entries()].reverse()) {
    await page.goBack();
    await page.goBack();
    await shows(page, step, ZOOMS[index - 1]?.next ?? null);
  }
  await page.context().close();
});

test("the chart is zoomed from years to minutes by keyboard", async () => {
  const page = await fixture.page(`/console/timeline?namespace=${NAMESPACE}`);
  await zoomed(page, press, (button) => button.press("Enter"));
  await page.context().close();
});

test("the chart is moved and zoomed by its buttons", async () => {
  const hour = "2024-03-15T10:00:00Z..2024-03-15T11:00:00Z";
  const page = await fixture.page(`/console/timeline?namespace=${NAMESPACE}&time=${hour}`);
  await shows(page, ZOOMS[4], hour);
  const steps = [
    ["Later", "2024-03-15T10:30:00Z..2024-03-15T11:30:00Z"],
    ["Zoom in", "2024-03-15T10:45:00Z..2024-03-15T11:15:00Z"],
    ["Earlier", "2024-03-15T10:30:00Z..2024-03-15T11:00:00Z"],
    ["Zoom out", "2024-03-15T10:15:00Z..2024-03-15T11:15:00Z"],
  ] as const;
  for (const [name, timeframe] of steps) {
    await page.getByRole("button", { name }).press("Enter");
    await page.waitForURL((url) => url.searchParams.get("time") === timeframe);
    await shows(page, ZOOMS[4], timeframe);
  }
  await page.getByRole("button", { name: "All time" }).click();
  await shows(page, ZOOMS[0], null);
  await page.context().close();
});

test("a second click goes on from the first, though the answer to that is awaited", async () => {
  const hour = "2024-03-15T10:00:00Z..2024-03-15T11:00:00Z";
  const page = await fixture.page(`/console/timeline?namespace=${NAMESPACE}&time=${hour}`);
  await shows(page, ZOOMS[4], hour);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/v1/timeline/counts", async (route) => {
    await released;
    await route.continue().catch(() => undefined); // it was aborted meanwhile
  });
  for (const timeframe of ["2024-03-15T10:30:00Z..2024-03-15T11:30:00Z", "2024-03-15T11:00:00Z..2024-03-15T12:00:00Z"]) {
    await page.getByRole("button", { name: "Later" }).click();
    await page.waitForURL((url) => url.searchParams.get("time") === timeframe);
  }
  release();
  await page.context().close();
});

test("bars are coloured by robot and by tag, and a name of the legend narrows them", async () => {
  const page = await fixture.page(`/console/timeline?namespace=${NAMESPACE}`);
  const fill = (shape: Locator): Promise<string> => shape.evaluate((shape) => (globalThis as unknown as Styles).getComputedStyle(shape).fill);
  interface Styles {
    getComputedStyle: (element: unknown) => { fill: string };
  }
  for (const [by, button] of [["robot", "By robot"], ["tag", "By tag"]] as const) {
    await page.getByRole("button", { name: button }).click();
    const counts = await countsOf(null, "year", by);
    const names = [...new Set(counts.map(({ name }) => name ?? ""))];
    assert.ok(names.length > 1);
    const fills = new Set<string>();
    for (const name of names) {
      const known = counts.filter((count) => count.name === name).map(({ memories }) => memories);
      const entry = page.getByRole("button", { name: `${name} ${known.reduce((sum, count) => sum + count, 0)}`, exact: true });
      await entry.waitFor();
      assert.deepEqual((await column(page, name)).filter((count) => count > 0), known, name);
      // The bars have the colour of the legend, which no other name has.
      const sample = entry.locator("rect").first();
      const colour = await fill(sample);
      const bars = page.getByRole("img", { name: /^Memories over time/ }).locator(`path.${await sample.getAttribute("class")}`);
      assert.equal(await fill(bars), colour);
      assert.equal((await bars.getAttribute("d"))?.split("M").length, known.length + 1, `${name} has a bar for each year`);
      fills.add(colour);
    }
    assert.equal(fills.size, names.length);
  }
  await page.getByRole("button", { name: "By robot" }).click();
  await page.getByRole("button", { name: /^eve \d/ }).click();
  await page.getByText("robot: eve").waitFor();
  const eve = await countsOf(null, "year", "time", { robots: ["eve"] });
  await until(async () => String(await column(page, "Memories")) === String(eve.map(({ memories }) => memories)));
  assert.equal(await page.getByRole("button", { name: /^(ada|bob) \d/ }).count(), 0);
  await page.context().close();
});

test("a dragged selection filters the list, and the address holds it", async () => {
  const hour = "2024-03-15T10:00:00Z..2024-03-15T11:00:00Z";
  const timeframe = "2024-03-15T10:20:00Z..2024-03-15T10:50:00Z";
  const page = await fixture.page(`/console/timeline?namespace=${NAMESPACE}&time=${hour}`);
  await shows(page, ZOOMS[4], hour);
  const asked = { filter: { namespaces: [NAMESPACE], timeframe }, limit: 1_000 };
  const { entries } = await fixture.server.api<{ entries: { id: number }[] }>("/v1/timeline", asked);
  const [count] = await countsOf(timeframe, "year", "time");
  assert.equal(count?.memories, entries.length);
  const latest = entries.map(({ id }) => `Memory ${id}`).reverse();
  const isListed = async (): Promise<void> => {
    await page.getByRole("heading", { name: "Memories of the selection" }).waitFor();
    await page.getByText(`${entries.length} memories, 15 Mar 2024, 10:20 to 10:50 (UTC), the latest first`).waitFor();
    await until(async () => String(await page.getByRole("link", { name: /^Memory \d+$/ }).allInnerTexts()) === String(latest));
    assert.equal(await page.getByLabel("From (UTC)").inputValue(), "2024-03-15T10:20");
    assert.equal(await page.getByLabel("Until (UTC)").inputValue(), "2024-03-15T10:50");
  };
  await drag(page, 20, 50);
  await isListed();
  await page.reload();
  await isListed();
  assert.equal((await column(page, "Memories")).length, 60, "the chart shows all of the hour still");
  await page.getByRole("button", { name: "Clear selection" }).click();
  await shows(page, ZOOMS[4], hour);
  await page.getByLabel("From (UTC)").fill("2024-03-15T10:20");
  await page.getByLabel("Until (UTC)").fill("2024-03-15T10:50");
  await page.getByRole("button", { name: "Select", exact: true }).click();
  await isListed();
  await page.context().close();
});

test("a slider selects when it is let go, not on its way", async () => {
  const hour = "2024-03-15T10:00:00Z..2024-03-15T11:00:00Z";
  const page = await fixture.page(`/console/timeline?namespace=${NAMESPACE}&time=${hour}`);
  await shows(page, ZOOMS[4], hour);
  const slider = page.getByRole("slider", { name: "Start of the selection" });
  const box = await slider.boundingBox();
  assert.ok(box);
  const before = page.url();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + 12, y);
  await page.mouse.down();
  for (const part of [0.1, 0.3, 0.5]) await page.mouse.move(box.x + 12 + part * (box.width - 24), y);
  await until(async () => (await slider.inputValue()) === "30");
  assert.equal(page.url(), before);
  await page.mouse.up();
  await page.waitForURL((url) => url.searchParams.get("selected") === "2024-03-15T10:30:00Z..2024-03-15T11:00:00Z");
  await page.context().close();
});

test("a selection between two times has no memories", async () => {
  const times = "2024-03-15T10:00:00Z..2024-03-15T10:10:00Z, 2024-03-15T10:50:00Z..2024-03-15T11:00:00Z";
  const path = `/console/timeline?namespace=${NAMESPACE}&time=${encodeURIComponent(times)}`;
  const page = await fixture.page(path);
  const sum = page.getByRole("status").filter({ hasText: "the latest first" });
  await sum.filter({ hasText: /^20 memories, / }).waitFor();
  await page.goto(`${fixture.server.url}${path}&selected=2024-03-15T10:20:00Z..2024-03-15T10:40:00Z`);
  await page.getByText("No memory is from this time").waitFor();
  await sum.filter({ hasText: /^0 memories, 15 Mar 2024, 10:20 to 10:40 / }).waitFor();
  await page.context().close();
});

test("nothing serious is found by axe while a time is selected, at any width", async () => {
  const hour = "2024-03-15T10:00:00Z..2024-03-15T11:00:00Z";
  const path = `/console/timeline?namespace=${NAMESPACE}&by=tag&time=${hour}&selected=${ZOOMS[4].next}`;
  await fixture.checkAccess(path, async (page) => {
    await page.getByText("5 memories, 15 Mar 2024").waitFor();
    await page.getByText("The numbers as a table").click();
  });
});
