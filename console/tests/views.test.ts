import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { startedFixture } from "./fixture.js";
import { until } from "./server.js";

const fixture = startedFixture();

interface Memory {
  id: number;
  content: string;
  revision: number;
}

interface Tag {
  tag: string;
  total: number;
}

async function written(content: string): Promise<Memory> {
  const { node } = await fixture.server.api<{ node: number }>("/v1/memories", { content, namespace: "atlas", robot: "ada" });
  return fixture.server.api(`/v1/memories/${node}`);
}

/** Holds back what is posted to an address until the returned function is called. With an answer, the server hears nothing. */
async function heldBack(page: Page, url: string, answer?: object): Promise<() => void> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(url, async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    await released;
    if (!answer) return route.continue();
    await route.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify(answer) });
  });
  return release;
}

test("a memory is edited, forgotten and restored, and the database agrees", async () => {
  const { id } = await written("The console was made in a week.");
  const page = await fixture.page(`/console/memories/${id}`);
  await page.getByRole("heading", { level: 1, name: "The console was made" }).waitFor();
  await page.getByText("Edit", { exact: true }).first().click();
  await page.getByLabel("Text", { exact: true }).fill("The console was made in a month.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: "in a month" }).waitFor();
  const edited = await fixture.server.api<Memory>(`/v1/memories/${id}`);
  assert.deepEqual([edited.content, edited.revision], ["The console was made in a month.", 2]);

  await page.getByRole("button", { name: "Forget" }).click();
  const undo = page.locator(".notice", { hasText: "is forgotten" }).getByRole("button", { name: "Undo" });
  await undo.waitFor();
  await assert.rejects(fixture.server.api(`/v1/memories/${id}`), /node_not_found|forgotten/);
  await undo.click();
  await until(async () => (await fixture.server.api<Memory>(`/v1/memories/${id}`)).id === id);
  await page.context().close();
});

test("an edit beside another one is shown and not lost", async () => {
  const { id } = await written("Two people edit this.");
  const page = await fixture.page(`/console/memories/${id}`);
  await page.getByText("Edit", { exact: true }).first().click();
  await page.getByLabel("Text", { exact: true }).fill("Mine.");
  await fixture.server.api(`/v1/memories/${id}`, { content: "Theirs.", any_robot: true }, "PATCH");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Theirs.").first().waitFor();
  assert.equal((await fixture.server.api<Memory>(`/v1/memories/${id}`)).content, "Theirs.");
  await page.context().close();
});

test("an edit keeps the line ends of the lines that stay", async () => {
  const { id, content } = await written("one\r\ntwo\nthree\r\nfour");
  assert.equal(content, "one\r\ntwo\nthree\r\nfour");
  const page = await fixture.page(`/console/memories/${id}?edit=yes`);
  const text = page.getByLabel("Text", { exact: true });
  const save = page.getByRole("button", { name: "Save" });
  await text.fill("one\ntwo\nthree\nfours");
  await until(() => save.isEnabled());
  // The former text again: nothing is changed.
  await text.fill("one\ntwo\nthree\nfour");
  await until(() => save.isDisabled());
  await text.fill("one\ntwo\n2½\nthrees\nfour");
  await save.click();
  await page.getByRole("link", { name: "Edit", exact: true }).waitFor();
  assert.equal((await fixture.server.api<Memory>(`/v1/memories/${id}`)).content, "one\r\ntwo\n2½\r\nthrees\r\nfour");
  await page.context().close();
});

test("the text of an edit has the direction of its first letter", async () => {
  const { id } = await written("Shalom.");
  const page = await fixture.page(`/console/memories/${id}?edit=yes`);
  const text = page.getByLabel("Text", { exact: true });
  for (const [content, direction] of [["1. שלום, world", "rtl"], ["\u{1e900} is of Adlam", "rtl"], ["Hello, עולם", "ltr"], ["42", "ltr"]] as const) {
    await text.fill(content);
    await until(async () => (await text.getAttribute("dir")) === direction);
  }
  await page.context().close();
});

test("a null in the metadata of a memory stays while the rest is edited", async () => {
  const memory = { content: "Some of this is not known yet.", metadata: { ticket: null, team: "a" } };
  const { node } = await fixture.server.api<{ node: number }>("/v1/memories", { ...memory, namespace: "atlas", robot: "ada" });
  const page = await fixture.page(`/console/memories/${node}?edit=yes`);
  const metadata = page.getByLabel("Metadata", { exact: true });
  const save = page.getByRole("button", { name: "Save" });
  await metadata.fill('{ "ticket": null, "team": null }');
  await save.click();
  await page.getByText("An entry cannot become null").waitFor();
  await metadata.fill('{ "ticket": null, "team": "b" }');
  // The draft is put on top of another edit.
  await fixture.server.api(`/v1/memories/${node}`, { content: "Most of this is known.", any_robot: true }, "PATCH");
  await save.click();
  await page.getByText("The text was edited meanwhile.").waitFor();
  await save.click();
  await page.getByRole("heading", { level: 1, name: "Most of this is known." }).waitFor();
  const edited = await fixture.server.api<{ metadata: unknown }>(`/v1/memories/${node}`);
  assert.deepEqual(edited.metadata, { ticket: null, team: "b" });
  await page.context().close();
});

test("an entry with an integer that the page rounds is not changed", async () => {
  const sun = { mass: 1e30, unit: "t" };
  const memory = { content: "A trace has a large number.", metadata: { trace: { id: 2 ** 60, team: "a" }, note: "one", sun } };
  const { node } = await fixture.server.api<{ node: number }>("/v1/memories", { ...memory, namespace: "atlas", robot: "ada" });
  const page = await fixture.page(`/console/memories/${node}?edit=yes`);
  const metadata = page.getByLabel("Metadata", { exact: true });
  const save = page.getByRole("button", { name: "Save" });
  const { trace } = memory.metadata;
  // Neither beside the integer, nor in its place, nor with a new one.
  for (const edited of [{ trace: { ...trace, team: "b" }, note: "one" }, { note: "one" }, { trace, note: 2 ** 60 }]) {
    await metadata.fill(JSON.stringify(edited));
    await save.click();
    await page.getByText("An entry with an integer beyond").waitFor();
    await metadata.fill(JSON.stringify(memory.metadata));
    await page.getByText("An entry with an integer beyond").waitFor({ state: "detached" });
  }
  // A number that is no integer of the server is as exact here.
  const heavy = { mass: 1e30, unit: "kg" };
  await metadata.fill(JSON.stringify({ trace, note: "two", sun: heavy }));
  await save.click();
  await page.getByText("“two”").waitFor();
  const edited = await fixture.server.api<{ metadata: unknown }>(`/v1/memories/${node}`);
  assert.deepEqual(edited.metadata, { trace, note: "two", sun: heavy });
  await page.context().close();
});

test("an integer that the page rounds is shown as about that", async () => {
  const memory = { content: "A trace has a number.", metadata: { trace: 2 ** 60, negative: -(2 ** 60), exact: 2 ** 53 - 1, mass: 1e30 } };
  const { node } = await fixture.server.api<{ node: number }>("/v1/memories", { ...memory, namespace: "atlas", robot: "ada" });
  const page = await fixture.page(`/console/memories/${node}`);
  for (const text of ["trace: ≈ 1.152921504606847e18", "negative: ≈ -1.152921504606847e18", "exact: 9007199254740991", "mass: 1e+30"]) {
    await page.getByRole("listitem").filter({ hasText: text }).waitFor();
  }
  assert.equal(await page.getByTitle("This page rounds integers beyond 2⁵³.").count(), 2);
  await page.context().close();
});

test("a page that came over plain HTTP from another machine writes", async () => {
  const { id } = await written("Somebody reads this from another machine.");
  const page = await fixture.page(`/console/memories/${id}`);
  // What browsers leave out there.
  await page.evaluate("delete Crypto.prototype.randomUUID");
  await page.getByRole("button", { name: "Forget" }).click();
  await page.locator(".notice", { hasText: "is forgotten" }).getByRole("button", { name: "Undo" }).click();
  await until(async () => (await fixture.server.api<Memory>(`/v1/memories/${id}`)).id === id);
  await page.context().close();
});

test("a server that does not answer is told once", async () => {
  const page = await fixture.page("/?namespace=atlas");
  const told = page.getByText("The server does not answer.");
  const isDown = (url: URL): boolean => url.pathname.startsWith("/v1/") || url.pathname === "/console/sign-in";
  // Without the first answers there is no view.
  await page.getByRole("searchbox").waitFor();
  await page.route(isDown, (route) => route.abort());
  await page.getByRole("searchbox").fill("parcel");
  await page.getByRole("main").filter({ has: told }).waitFor();
  // Somebody comes back to the tab: now the frame says it.
  await page.evaluate("void document.dispatchEvent(new Event('visibilitychange'))");
  await page.getByRole("main").filter({ hasNot: told }).waitFor();
  assert.equal(await told.count(), 1);
  await page.unroute(isDown);
  await page.locator(".hit").first().waitFor();
  await told.waitFor({ state: "detached" });
  await page.context().close();
});

test("a proxy that answers in the place of the server is told in words for people, and asked again", async () => {
  const page = await fixture.page("/?namespace=atlas");
  const told = page.getByText("The proxy in front of the server answers 502.");
  await page.getByRole("searchbox").waitFor();
  await page.route("**/v1/**", (route) => route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" }));
  await page.getByRole("link", { name: "Tags", exact: true }).click();
  await told.first().waitFor();
  assert.doesNotMatch(await page.getByRole("main").innerText(), /URL/);
  await page.unroute("**/v1/**");
  await page.getByRole("treeitem").first().waitFor();
  await told.first().waitFor({ state: "detached" });
  // The frame says it for all views.
  const isDown = (url: URL): boolean => url.pathname.startsWith("/v1/") || url.pathname === "/console/sign-in";
  await page.route(isDown, (route) => route.fulfill({ status: 503, contentType: "text/html", body: "" }));
  await page.evaluate("void document.dispatchEvent(new Event('visibilitychange'))");
  const toldAround = page.getByText("The proxy in front of the server answers 503.").first();
  await toldAround.waitFor();
  await page.unroute(isDown);
  await toldAround.waitFor({ state: "detached" });
  await page.context().close();
});

test("a fault of the page is shown, and its buttons can be used again", async () => {
  await fixture.server.api("/v1/queues/htm.tag/pause", { reason: "a test" });
  // Not `fixture.page`, which fails with any fault of a page.
  const page = await fixture.browser.newPage();
  await page.goto(`${fixture.server.url}/console/pipeline`);
  const resume = page.getByRole("button", { name: "Resume htm.tag" });
  await resume.waitFor();
  await page.evaluate("void (Crypto.prototype.getRandomValues = () => { throw new TypeError('no bytes'); })");
  const fault = "The page failed: TypeError: no bytes";
  await resume.click();
  await page.locator(".toasts").getByText(fault).waitFor();
  await until(() => resume.isEnabled());
  await page.getByRole("button", { name: "Pause … htm.embed" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill("somebody looks at it");
  await dialog.getByRole("button", { name: "Pause" }).click();
  await dialog.getByText(fault).waitFor();
  assert.ok(await dialog.getByRole("button", { name: "Pause" }).isEnabled());
  await page.close();
  await fixture.server.api("/v1/queues/htm.tag/resume", {});
});

test("an act that fails after its dialog was closed is told", async () => {
  const page = await fixture.page("/console/pipeline");
  let fail = (): void => undefined;
  const failed = new Promise<void>((resolve) => (fail = resolve));
  await page.route("**/v1/queues/htm.embed/pause", async (route) => {
    await failed;
    const body = JSON.stringify({ code: "queue_unknown", detail: "There is no such queue." });
    await route.fulfill({ status: 404, contentType: "application/problem+json", body });
  });
  await page.getByRole("button", { name: "Pause … htm.embed" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill("somebody looks at it");
  const asked = page.waitForRequest("**/v1/queues/htm.embed/pause");
  await dialog.getByRole("button", { name: "Pause" }).click();
  await asked;
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  fail();
  await page.locator(".toasts").getByText("There is no such queue.").waitFor();
  await page.context().close();
});

test("an act that ends after its dialog was closed leaves the next dialog open", async () => {
  const page = await fixture.page("/console/pipeline");
  const answer = await heldBack(page, "**/v1/queues/htm.embed/pause", {});
  const pause = page.getByRole("button", { name: "Pause … htm.embed" });
  await pause.click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill("somebody looks at it");
  const asked = page.waitForRequest("**/v1/queues/htm.embed/pause");
  await dialog.getByRole("button", { name: "Pause" }).click();
  await asked;
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await pause.click();
  await dialog.getByRole("textbox").fill("somebody else does");
  answer();
  await page.locator(".toasts").getByText("is paused").waitFor();
  assert.equal(await dialog.getByRole("textbox").inputValue(), "somebody else does");
  await page.context().close();
});

test("whoever has left a view stays away when a change there ends", async () => {
  const page = await fixture.page("/console/tags?namespace=atlas");
  await page.getByRole("button", { name: "New tag …" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").first().fill("left-meanwhile");
  const add = dialog.getByRole("button", { name: "Add", exact: true });
  // The rehearsal is over.
  await until(() => add.isEnabled());
  const release = await heldBack(page, "**/v1/tags/add");
  const asked = page.waitForRequest("**/v1/tags/add");
  await add.click();
  await asked;
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Search", exact: true }).click();
  await page.getByRole("searchbox").waitFor();
  const place = page.url();
  release();
  await page.locator(".toasts").getByText("left-meanwhile added").waitFor();
  assert.equal(page.url(), place);
  await page.context().close();
});

test("a key that was made after its form was closed is shown", async () => {
  const page = await fixture.page("/console/keys");
  const created = { id: "k1", secret: "htm_made_all_the_same", role: "reader", created_at: new Date().toISOString() };
  const answer = await heldBack(page, "**/v1/keys", created);
  await page.getByRole("button", { name: "New key" }).click();
  const asked = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/v1/keys"));
  await page.getByRole("button", { name: "Create" }).click();
  await asked;
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  answer();
  assert.equal(await page.getByLabel("Key", { exact: true }).inputValue(), created.secret);
  await page.context().close();
});

test("a memory that is opened by its number is shown in its namespace", async () => {
  const { id } = await written("The harbour has two cranes.");
  for (const query of ["", "?namespace=nosuch", "?edit=yes"]) {
    const page = await fixture.page(`/console/memories/${id}${query}`);
    await page.waitForURL((url) => url.searchParams.get("namespace") === "atlas");
    await until(async () => (await page.getByLabel("Namespace").inputValue()) === "atlas");
    assert.equal(new URL(page.url()).searchParams.has("edit"), query === "?edit=yes");
    await page.getByRole("link", { name: "Timeline", exact: true }).click();
    await page.waitForURL((url) => url.pathname + url.search === "/console/timeline?namespace=atlas");
    await page.context().close();
  }
});

test("how long ago a memory happened is the time that has passed, not a day of the calendar", async () => {
  const { id } = await written("The bell was rung.");
  const { created_at } = await fixture.server.api<{ created_at: string }>(`/v1/memories/${id}`);
  const page = await fixture.page(`/console/memories/${id}`);
  const happened = page.getByRole("region", { name: "Facts" }).locator("dl > div", { hasText: "Happened" });
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
  const ages: [number, string][] = [
    [59.7 * minute, "1 hr. ago"],
    [23.8 * hour, "1 day ago"],
    [25 * hour, "1 day ago"],
    [35 * hour, "1 day ago"],
    [31 * day, "1 mo. ago"],
    [364 * day, "1 yr. ago"],
    [426 * day, "1 yr. ago"],
  ];
  for (const [age, text] of ages) {
    await page.clock.setFixedTime(Date.parse(created_at) + age);
    await page.reload();
    await happened.getByText(`(${text})`).waitFor();
  }
  await page.context().close();
});

test("a memory shows what it is related to", async () => {
  const [old, renewed] = [await written("Staging is on port 5432."), await written("Staging is on port 5433.")];
  await fixture.server.api(`/v1/memories/${renewed.id}/relations`, { kind: "supersedes", to: old.id, reason: "it moved", robot: "ada", namespace: "atlas" });
  const page = await fixture.page(`/console/memories/${old.id}`);
  const relations = page.getByRole("region", { name: "Relations" });
  const by = relations.getByRole("listitem").filter({ hasText: "Superseded by" });
  await by.getByText("it moved").waitFor();
  await by.getByRole("link", { name: "Staging is on port 5433." }).click();
  await page.waitForURL((url) => url.pathname === `/console/memories/${renewed.id}`);
  await relations.getByRole("listitem").filter({ hasText: "Supersedes" }).getByRole("link", { name: "port 5432" }).waitFor();
  await page.context().close();
});

test("two tags are merged and the merge is undone", async () => {
  const tags = async (): Promise<Tag[]> => (await fixture.server.api<{ tags: Tag[] }>("/v1/tags?namespace=atlas&limit=1000")).tags;
  const roots = (await tags()).map(({ tag }) => tag).filter((tag, _, all) => !tag.includes(":") && !all.some((other) => other.startsWith(`${tag}:`)));
  const [from = "", into = ""] = roots;
  const page = await fixture.page("/console/tags?namespace=atlas");
  await page.locator(`[role=treeitem][title="${from}"] .tag-row-menu`).click();
  await page.getByRole("menuitem", { name: "Merge into another tag" }).click();
  await page.getByLabel("Tag that stays").fill(into);
  await page.getByRole("button", { name: "Merge", exact: true }).click();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  assert.ok(!(await tags()).some(({ tag }) => tag === from));
  await page.getByRole("button", { name: "Undo" }).click();
  await until(async () => (await tags()).some(({ tag }) => tag === from));
  await page.context().close();
});

test("a dead letter is retried, and a queue is paused", async () => {
  await fixture.server.api("/v1/queues/htm.tag/pause", { reason: "a test" });
  const { id } = await written("A job of this is cancelled.");
  await fixture.server.api("/v1/jobs/cancel", { queue: "htm.tag", confirm: true });
  await fixture.server.api("/v1/queues/htm.tag/resume", {});
  const page = await fixture.page("/console/pipeline/dead-letters");
  await page.getByRole("button", { name: `Retry memory ${id}` }).waitFor();
  assert.equal(await page.locator(":focus").count(), 0, "nothing takes the focus of a page that has just been loaded");
  await page.getByRole("button", { name: `Retry memory ${id}` }).click();
  const state = async (): Promise<string | undefined> =>
    (await fixture.server.api<{ stages: { stage: string; state: string }[] }>(`/v1/memories/${id}/status`)).stages.find(({ stage }) => stage === "tag")?.state;
  await until(async () => (await state()) === "done");
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("button", { name: /^Pause/ }).first().click();
  await page.getByRole("dialog").getByRole("textbox").fill("somebody looks at it");
  await page.getByRole("dialog").getByRole("button", { name: /^Pause/ }).click();
  await page.getByText("somebody looks at it").first().waitFor();
  await page.getByRole("button", { name: /^Resume/ }).first().click();
  await until(async () => (await fixture.server.api<{ paused: string | null }[]>("/v1/queues")).every(({ paused }) => paused === null));
  await page.context().close();
});

test("the timeline and the working memory show what there is", async () => {
  const timeline = await fixture.page("/console/timeline?namespace=atlas");
  await timeline.getByRole("heading", { level: 1 }).waitFor();
  await timeline.locator("main svg:not(.patterns)").first().waitFor();
  await timeline.context().close();
  await fixture.server.api("/v1/recall", { query: "parcel", robot: "architect", filter: { namespaces: ["atlas"] } });
  const working = await fixture.page("/console/working-memory?namespace=atlas");
  await working.getByText("architect").first().click();
  await working.getByText("tokens").first().waitFor();
  await working.context().close();
});

test("memories are chosen on the map, by pointer and by keyboard", async () => {
  const page = await fixture.page("/console/map?namespace=atlas");
  const picture = page.locator("main svg.drawing");
  await picture.waitFor();
  const { points } = await fixture.server.api<{ points: unknown[] }>("/v1/map", { filter: { namespaces: ["atlas"] } });
  const chosen = page.getByRole("status").filter({ hasText: "the latest first" });
  await page.getByText(`${points.length} memories, the latest first`).waitFor();

  const box = await picture.boundingBox();
  assert.ok(box);
  const corners: [number, number][] = [[0, 0], [1, 0], [1, 0.5], [0, 0.5]];
  for (const [index, [x, y]] of corners.entries()) {
    await page.mouse.move(box.x + 2 + x * (box.width - 4), box.y + 2 + y * (box.height - 4));
    if (index === 0) await page.mouse.down();
  }
  await page.mouse.up();
  await page.getByRole("heading", { name: "Memories of the selection" }).waitFor();
  const upper = Number.parseInt((await chosen.textContent()) ?? "", 10);
  assert.ok(upper > 0 && upper < points.length, `${upper} of ${points.length}`);
  // The address holds the selection.
  await page.reload();
  await page.getByText(`${upper} memories, the latest first`).waitFor();
  await page.getByRole("button", { name: "List all" }).click();
  await page.getByText(`${points.length} memories, the latest first`).waitFor();

  await picture.focus();
  for (const key of ["+", "+", "+", "+", "ArrowUp", "Enter"]) await picture.press(key);
  await page.getByRole("heading", { name: "Memories of the selection" }).waitFor();
  await picture.press("Escape");
  await page.getByRole("heading", { name: "Memories on the map" }).waitFor();
  await page.getByRole("button", { name: /^database/ }).click();
  const only = Number.parseInt((await chosen.textContent()) ?? "", 10);
  assert.ok(only > 0 && only < points.length);
  await page.getByRole("table").getByRole("link").first().click();
  await page.waitForURL(/console\/memories\/\d+/);
  await page.context().close();
});

test("nothing serious is found by axe, at any width", async () => {
  const { id } = await written("A memory with a text.\nAnd a second line.");
  const heading = (page: Page) => page.getByRole("heading", { level: 1 }).waitFor();
  for (const path of [`memories/${id}`, "tags?namespace=atlas", "timeline?namespace=atlas", "map?namespace=atlas", "working-memory?namespace=atlas", "pipeline", "pipeline/dead-letters", "pipeline/providers", "pipeline/models", "keys", "keys?tab=audit", "nowhere"]) {
    await fixture.checkAccess(`/console/${path}`, heading);
  }
  const tagged = { query: "parcel search", limit: 1, filter: { namespaces: ["atlas"], tags: ["database"] } };
  const { hits } = await fixture.server.api<{ hits: { id: number }[] }>("/v1/recall", tagged);
  await fixture.checkAccess(`/console/memories/${hits[0]?.id}`, async (page) => {
    await page.getByText("Where these tags come from").click();
    await page.getByRole("columnheader", { name: "Confidence" }).waitFor();
  });
});

test("a page of the audit log is added once, however often it is asked for", async () => {
  await fixture.server.sql("insert into htm.audit_log (actor, action) select 'ada', 'keys.create' from generate_series(1, 150)");
  const page = await fixture.page("/console/keys?tab=audit");
  const more = page.getByRole("button", { name: "Show more" });
  // At once: no answer comes between the clicks.
  await more.evaluate((button: HTMLElement) => {
    button.click();
    button.click();
  });
  await more.waitFor({ state: "detached" });
  await page.waitForLoadState("networkidle");
  const entries = await fixture.server.sql("select id from htm.audit_log union all select id from htm.tag_changes");
  assert.ok(entries.length < 200, "two pages are all");
  assert.equal(await page.locator("tbody tr").count(), entries.length);
  await page.context().close();
});

test("a key is made, and from then on people sign in", async () => {
  const page = await fixture.page("/console/keys");
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name, for people").fill("<b>Mara</b>");
  // The first key is an admin's. Any other one would leave nobody who makes keys.
  assert.ok(await page.getByRole("radio", { name: /admin/ }).isChecked());
  const warning = page.getByText("this key cannot create others");
  assert.equal(await warning.count(), 0);
  await page.getByRole("radio", { name: /reader/ }).check();
  await warning.waitFor();
  await page.getByRole("radio", { name: /admin/ }).check();
  await warning.waitFor({ state: "detached" });
  await page.getByLabel(/^Namespaces/).fill("atlas");
  await warning.waitFor();
  await page.getByLabel(/^Namespaces/).fill("");
  await warning.waitFor({ state: "detached" });
  await page.getByLabel(/^Robot of its requests/).fill("ada");
  await warning.waitFor();
  await page.getByLabel(/^Robot of its requests/).fill("");
  await warning.waitFor({ state: "detached" });
  // No key outlives the one that makes it, so this one never expires.
  assert.equal(await page.getByLabel("Days until it expires; none: never").inputValue(), "");
  await page.getByRole("button", { name: "Create" }).click();
  const secret = await page.getByLabel("Key", { exact: true }).inputValue();
  assert.match(secret, /^htm_/);
  // Escape does not lose it. A browser heeds the second one more than the first.
  for (let presses = 0; presses < 2; presses++) {
    await page.keyboard.press("Escape");
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    await page.getByRole("dialog", { name: "The key" }).waitFor();
    assert.equal(await page.getByLabel("Key", { exact: true }).inputValue(), secret);
  }
  const guest = await fixture.page("/");
  // The server notices its first key within a second.
  await until(async () => {
    await guest.reload();
    return guest.getByRole("heading", { name: "Sign in" }).waitFor({ timeout: 1_000 }).then(() => true);
  });
  // It stays until somebody has read it, also if the page asks who is signed in.
  const refused = page.waitForResponse((answer) => answer.url().endsWith("/console/sign-in") && answer.status() === 401);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await (await refused).finished();
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
  assert.equal(await page.getByLabel("Key", { exact: true }).inputValue(), secret);
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await guest.getByLabel("Key", { exact: true }).fill("htm_wrong");
  await guest.getByRole("button", { name: "Sign in" }).click();
  await guest.getByText("api_key_invalid").waitFor();
  await guest.getByLabel("Key", { exact: true }).fill(secret);
  await guest.getByRole("button", { name: "Sign in" }).click();
  await guest.getByRole("searchbox").waitFor();
  const [cookie] = await guest.context().cookies();
  assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, "Strict"]);
  // A page that is loaded again is still signed in.
  await guest.reload();
  await guest.getByRole("link", { name: "Keys" }).click();
  await guest.getByText("<b>Mara</b>").waitFor();
  await guest.getByRole("button", { name: "Sign out" }).click();
  await guest.getByRole("heading", { name: "Sign in" }).waitFor();
  await guest.context().close();
  await page.context().close();
});

test("a key that expires makes keys that expire with it or before", async () => {
  const created = await fixture.server.htm("keys", "create", "--role", "admin", "--expires", "30d", "--json");
  const page = await fixture.page("/console/keys");
  await page.getByLabel("Key", { exact: true }).fill(JSON.parse(created).secret);
  await page.getByRole("button", { name: "Sign in" }).click();
  for (const [typed, name] of [["", "Ends with its maker"], ["29", "Ends before"]] as const) {
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name, for people").fill(name);
    const days = page.getByLabel(/^Days until it expires; none: with your key, /);
    assert.equal(await days.inputValue(), "");
    await days.fill("30");
    assert.equal(await days.evaluate((input: HTMLInputElement) => input.checkValidity()), false);
    await days.fill(typed);
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("row").filter({ hasText: name }).getByText("valid, expires").waitFor();
  }
  await page.context().close();
});

test("a reader is not offered what would fail", async () => {
  const created = await fixture.server.htm("keys", "create", "--namespace", "atlas", "--role", "reader", "--json");
  const { id, secret } = JSON.parse(created);
  const page = await fixture.page("/");
  await page.getByLabel("Key", { exact: true }).fill(secret);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("searchbox").fill("parcel search");
  await page.locator(".hit-link").first().click();
  await page.getByRole("heading", { level: 1 }).waitFor();
  for (const name of ["Forget", "Erase"]) assert.equal(await page.getByRole("button", { name }).count(), 0, name);
  assert.equal(await page.getByRole("link", { name: "Edit", exact: true }).count(), 0);
  for (const name of ["Keys", "Pipeline"]) assert.equal(await page.getByRole("link", { name, exact: true }).count(), 0, name);
  // Once the key is revoked, whatever is asked next brings the form. The server notices within a second.
  await fixture.server.htm("keys", "revoke", id);
  await page.getByRole("link", { name: "Search", exact: true }).click();
  let asked = 0;
  await until(async () => {
    const search = page.getByRole("searchbox");
    // The form may come in between.
    if ((await search.count()) > 0) await search.fill(`parcel ${asked++}`, { timeout: 1_000 });
    return page.getByRole("heading", { name: "Sign in" }).waitFor({ timeout: 1_000 }).then(() => true);
  });
  await page.context().close();
});

test("an admin of one namespace is not told that a memory of another one does not exist", async () => {
  const [id] = await fixture.server.sql("select max(id) from htm.nodes where namespace = 'atlas' and deleted_at is null");
  const created = await fixture.server.htm("keys", "create", "--namespace", "lab", "--role", "admin", "--json");
  const page = await fixture.page(`/console/memories/${id}`);
  await page.getByLabel("Key", { exact: true }).fill(JSON.parse(created).secret);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("or in a namespace that you do not see").waitFor();
  await page.context().close();
});
