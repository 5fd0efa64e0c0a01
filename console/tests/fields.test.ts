import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { NAMESPACE, fixture, ids, pageOf, withInMind } from "./minds.js";
import { until } from "./server.js";

// Longer than any field waits for more letters before it acts by itself.
const REST_MS = 500;

async function isFocused(field: Locator): Promise<boolean> {
  return field.evaluate((field) => field === field.ownerDocument.activeElement);
}

/** Types a text in the place of what is there. The address stays as it is. */
async function typed(page: Page, field: Locator, text: string): Promise<void> {
  const before = page.url();
  await field.click();
  await field.press("ControlOrMeta+a");
  await field.pressSequentially(text, { delay: 20 });
  await page.waitForTimeout(REST_MS);
  assert.equal(page.url(), before, `the address changed before ${text} was entered`);
  assert.ok(await isFocused(field));
}

async function holds(page: Page, parameter: string, values: readonly string[]): Promise<void> {
  await page.waitForURL((url) => String(url.searchParams.getAll(parameter)) === String(values));
}

/** Enters a text by the key. The address has it, and the field is still typed in. */
async function entered(page: Page, field: Locator, text: string, parameter: string, value = text): Promise<void> {
  await typed(page, field, text);
  await field.press("Enter");
  await holds(page, parameter, [value]);
  // Whatever it changes is drawn by now.
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
  assert.ok(await isFocused(field), `${parameter} has lost the focus`);
}

/** A field that keeps its text. By leaving it another one is entered, and going back shows the former one. */
async function keeps(page: Page, field: Locator, parameter: string, texts: readonly [string, string], values = texts): Promise<void> {
  await entered(page, field, texts[0], parameter, values[0]);
  assert.equal(await field.inputValue(), texts[0]);
  await typed(page, field, texts[1]);
  await field.press("Tab");
  await holds(page, parameter, [values[1]]);
  assert.equal(await field.inputValue(), texts[1]);
  await page.goBack();
  await holds(page, parameter, [values[0]]);
  await until(async () => (await field.inputValue()) === texts[0]);
}

/** A field that adds a name, and is empty again. */
async function adds(page: Page, noun: string): Promise<void> {
  const field = page.getByLabel(`Add a ${noun}`, { exact: true });
  await entered(page, field, "data", noun);
  await page.getByText(`${noun}: data`, { exact: true }).waitFor();
  assert.equal(await field.inputValue(), "");
  await typed(page, field, "other");
  await field.press("Tab");
  await page.getByText(`${noun}: other`, { exact: true }).waitFor();
  assert.equal(await field.inputValue(), "");
}

test("the filters of memories act on entered texts, not on letters", async () => {
  const views = [
    { path: "/", nouns: ["tag", "robot", "type"] },
    { path: "/console/timeline", nouns: ["tag", "robot", "session"] },
    { path: "/console/map", nouns: ["tag", "robot"] },
  ];
  for (const { path, nouns } of views) {
    const page = await fixture.page(`${path}?namespace=${NAMESPACE}`);
    await keeps(page, page.getByLabel("Timeframe"), "time", ["last week", "this year"]);
    for (const noun of nouns) await adds(page, noun);
    assert.equal(new URL(page.url()).searchParams.get("time"), "last week");
    await page.context().close();
  }
});

test("a timeframe of two instants is a range of the timeline, and the field of words is empty again", async () => {
  const range = "2024-03-15T10:00:00Z..2024-03-15T11:00:00Z";
  const page = await fixture.page(`/console/timeline?namespace=${NAMESPACE}`);
  const field = page.getByLabel("Timeframe");
  await entered(page, field, range, "time");
  assert.equal(await field.inputValue(), "");
  // Leaving the field does not enter that it is empty.
  await field.press("Tab");
  await page.waitForTimeout(REST_MS);
  await holds(page, "time", [range]);
  await page.context().close();
});

test("the filters of jobs act on entered texts, and what is done to all that match follows them", async () => {
  await fixture.server.api("/v1/queues/htm.embed/pause", { reason: "a test" });
  const { node } = await fixture.server.api<{ node: number }>("/v1/memories", { content: "A job of this waits.", namespace: NAMESPACE, robot: "ada" });
  const page = await fixture.page("/console/pipeline/jobs");
  await keeps(page, page.getByLabel("Error has the words"), "error", ["timeout", "no answer"]);
  await page.getByRole("button", { name: "Clear" }).click();
  const memory = page.getByRole("search", { name: "Jobs" }).getByLabel("Memory", { exact: true });
  await keeps(page, memory, "memory", ["412", "413"]);
  // What is no number is told, and changes nothing.
  for (const text of ["4x", "0", "99999999999999999999"]) {
    await typed(page, memory, text);
    await memory.press("Enter");
    assert.ok(await memory.evaluate((field) => (field as unknown as { validity: { patternMismatch: boolean } }).validity.patternMismatch), text);
    await holds(page, "memory", ["412"]);
  }
  await entered(page, memory, String(node), "memory");
  await page.getByRole("button", { name: /^Cancel all/ }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel all that match" });
  await dialog.getByText(/^(This is 1 job|These are \d jobs)\.$/).waitFor();
  assert.match(await dialog.innerText(), new RegExp(`Memory\\s+${node}\\b`));
  await page.context().close();
  await fixture.server.api("/v1/queues/htm.embed/resume", {});
});

test("the options of contexts act on entered texts, not on letters", async () => {
  await withInMind("kim", ids.slice(0, 3), 1_000);
  const page = await pageOf("kim", "&part=context");
  await keeps(page, page.getByLabel("At most tokens"), "tokens", ["123", "456"]);
  await page.getByText("More options").click();
  await keeps(page, page.getByLabel("Between two memories (\\n: a new line)"), "separator", ["\\n--\\n", "\\n==\\n"], ["\n--\n", "\n==\n"]);
  await keeps(page, page.getByLabel("At most memories by the question"), "hits", ["12", "34"]);
  await keeps(page, page.getByLabel("Only of the type"), "type", ["decision", "question"]);
  await keeps(page, page.getByLabel("Only with the tag"), "tag", ["data", "other"]);
  await keeps(page, page.getByLabel("Only of the time"), "time", ["last week", "this year"]);
  await page.context().close();
});

/** Types a letter at the moment when the address has followed. It has to stay, and the address to follow it too. */
async function keepsTheNextLetter(page: Page, field: Locator, parameter: string): Promise<void> {
  await field.click();
  await page.evaluate(`addEventListener("console:moved", () => {
    const field = document.activeElement;
    field.value += "t";
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }, { once: true })`);
  await field.pressSequentially("a");
  await holds(page, parameter, ["at"]);
  assert.equal(await field.inputValue(), "at");
  await page.context().close();
}

test("a letter that is typed while the address follows is kept", async () => {
  const tagged = { content: "Trams have rails.", namespace: "letters", robot: "ada", tags: ["transport"] };
  await fixture.server.api("/v1/memories", tagged);
  await withInMind("lea", ids.slice(0, 1), 1_000);
  const search = await fixture.page(`/?namespace=${NAMESPACE}`);
  await keepsTheNextLetter(search, search.getByRole("searchbox"), "q");
  const tags = await fixture.page("/console/tags?namespace=letters");
  await keepsTheNextLetter(tags, tags.getByLabel("Find a tag"), "find");
  const minds = await fixture.page(`/console/working-memory?namespace=${NAMESPACE}`);
  await keepsTheNextLetter(minds, minds.getByLabel("Find a robot or a group"), "find");
  const context = await pageOf("lea", "&part=context");
  await keepsTheNextLetter(context, context.getByLabel("A question for lea; empty: its working memory alone"), "q");
});

test("every namespace of many can be chosen", async () => {
  const memories = Array.from({ length: 600 }, (_, n) => ({ content: `Tram ${n} is here.`, namespace: `many/${n + 100}`, robot: "ada" }));
  await fixture.server.api("/v1/memories/batch", { memories });
  const page = await fixture.page("/");
  await page.getByLabel("Namespace").selectOption("many/699");
  await holds(page, "namespace", ["many/699"]);
  await page.goto(new URL("/console/pipeline/jobs", page.url()).href);
  await page.getByRole("search", { name: "Jobs" }).getByLabel(/^Namespace/).selectOption("many/698");
  await holds(page, "namespace", ["many/698"]);
  await page.context().close();
});

test("a namespace that is not listed can be typed for a backfill and a budget", async () => {
  const page = await fixture.page("/console/pipeline/models");
  await page.route("**/v1/namespaces*", (route) => route.fulfill({ json: { namespaces: ["atlas"], next: "atlas" } }));
  await page.getByRole("button", { name: "Embed older memories" }).click();
  const field = page.getByRole("dialog").getByLabel("Namespace");
  await page.getByText("Only the first 10,000 are proposed. Others can be typed.").waitFor();
  const counted = page.waitForRequest((request) => request.postDataJSON()?.namespace === NAMESPACE);
  await field.fill(NAMESPACE);
  assert.equal((await counted).postDataJSON().dry_run, true);
  await page.goto(new URL("/console/pipeline/providers", page.url()).href);
  await page.getByRole("button", { name: "Set a budget" }).click();
  await page.getByText("Only the first 10,000 are proposed. Others can be typed.").waitFor();
  await page.context().close();
});

test("Enter that ends a word of an input method adds nothing", async () => {
  for (const [path, label] of [[`/?namespace=${NAMESPACE}`, "Add a tag"], [`/console/memories/${ids[0]}?edit=yes`, "Tags"]] as const) {
    const page = await fixture.page(path);
    const field = page.getByLabel(label, { exact: true });
    await field.fill("dat");
    await field.dispatchEvent("keydown", { key: "Enter", isComposing: true });
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    assert.equal(await field.inputValue(), "dat", label);
    await field.press("Enter");
    await until(async () => (await field.inputValue()) === "");
    await page.getByRole("button", { name: /^Remove .*dat$/ }).waitFor();
    await page.context().close();
  }
});
