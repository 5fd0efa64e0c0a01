// A server whose memories are from years to minutes, and the timeline's chart of them.

import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { startedFixture } from "./fixture.js";
import { startEmptyServer, until, type Server } from "./server.js";

export const NAMESPACE = "fleet";
const ROBOTS = ["ada", "bob", "eve"];

export const fixture = startedFixture(() => startEmptyServer("embedding.provider=fake", "tag.provider=fake"), fill);

// Each year, each month of 2024, each day of one of its months, each hour of one of these days, each minute of one hour.
const TIMES = [
  ...Array.from({ length: 36 }, (_, year) => Date.UTC(1990 + year, 5, 1)),
  ...Array.from({ length: 12 }, (_, month) => Date.UTC(2024, month, 1, 8)),
  ...Array.from({ length: 31 }, (_, day) => Date.UTC(2024, 2, 1 + day, 18)),
  ...Array.from({ length: 24 }, (_, hour) => Date.UTC(2024, 2, 15, hour, 30)),
  ...Array.from({ length: 60 }, (_, minute) => Date.UTC(2024, 2, 15, 10, minute, 20)),
];

async function fill({ url, api }: Server): Promise<void> {
  const lines = TIMES.map((time, index) => {
    const tags = [["van:washed"], ["van:driven", "depot:north"], []][index % 3];
    const robot = ROBOTS[[0, 0, 0, 1, 1, 2][index % 6] ?? 0];
    return JSON.stringify({ id: `van-${index}`, text: `Van ${index} moved.`, ns: NAMESPACE, robot, tags, created_at: new Date(time).toISOString() });
  });
  const headers = { "Content-Type": "application/x-ndjson" };
  await (await fetch(`${url}/v1/import`, { method: "POST", headers, body: lines.join("\n") })).text();
  const isDone = async (): Promise<boolean> =>
    (await api<{ queue: string; done: number }[]>("/v1/queues"))
      .every(({ queue, done }) => queue === "htm.learn" || done === TIMES.length);
  await until(isDone, 60_000, () => "the workers did not process the memories");
}

export interface Count {
  start: string;
  name: string | null;
  memories: number;
}

export function countsOf(timeframe: string | null, step: string, by: string, more: object = {}): Promise<Count[]> {
  const filter = { namespaces: [NAMESPACE], timeframe, ...more };
  return fixture.server.api("/v1/timeline/counts", { filter, step, by, limit: 10_000 });
}

/** The numbers of a column of the chart's table. */
export async function column(page: Page, name: string): Promise<number[]> {
  const table = page.getByRole("table", { name: /^Memories over time/, includeHidden: true });
  const names = await table.locator("thead th").allTextContents();
  const cells = await table.locator(`tbody tr > :nth-child(${names.indexOf(name) + 1})`).allTextContents();
  return cells.map((text) => Number(text.replaceAll(",", "")));
}

/** Selects bars of the chart by dragging from the first to the last. */
export async function drag(page: Page, from: number, until: number): Promise<void> {
  const drawing = page.getByRole("img", { name: /^Memories over time/ });
  const box = await drawing.boundingBox();
  assert.ok(box);
  const slider = sliderOf(page, "Start");
  const ends = await slider.boundingBox();
  assert.ok(ends);
  // The thumbs of a slider are 24 pixels wide. Their middles are at the ends of the bars.
  const left = ends.x + 12;
  const width = (ends.width - 24) / Number(await slider.getAttribute("max"));
  await page.mouse.move(left + (from + 0.5) * width, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(left + (until - 0.5) * width, box.y + box.height / 2);
  await page.mouse.up();
}

function sliderOf(page: Page, end: "Start" | "End"): Locator {
  return page.getByRole("slider", { name: `${end} of the selection` });
}

/** Selects bars of the chart by the keys of its two sliders, which stop at each other. */
export async function press(page: Page, from: number, until: number): Promise<void> {
  const bars = Number(await sliderOf(page, "Start").getAttribute("max"));
  await sliderOf(page, "Start").focus();
  await moveTo(page, from, 0, bars - 1);
  await page.keyboard.press("Tab");
  await moveTo(page, until, from + 1, bars);
}

/** Moves a slider from whichever end is closer. */
async function moveTo(page: Page, place: number, first: number, last: number): Promise<void> {
  const isFromFirst = place - first < last - place;
  await page.keyboard.press(isFromFirst ? "Home" : "End");
  for (let left = isFromFirst ? place - first : last - place; left > 0; left--) {
    await page.keyboard.press(isFromFirst ? "ArrowRight" : "ArrowLeft");
  }
}
