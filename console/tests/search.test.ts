import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page, Request } from "playwright-core";
import { startedFixture } from "./fixture.js";
import { until } from "./server.js";

interface Styles {
  getComputedStyle: (element: unknown) => Record<string, string>;
}

const fixture = startedFixture();
const hits = (page: Page) => page.locator(".hit");

test("a stranger finds a memory and sees why it was found", async () => {
  const page = await fixture.page("/");
  await page.getByLabel("Namespace").selectOption("atlas");
  await page.getByRole("searchbox").fill("How fast was semantic parcel lookup?");
  await hits(page).first().waitFor();
  // The address holds the search.
  await page.waitForURL(/namespace=atlas.*q=How\+fast/);
  assert.match(await hits(page).first().innerText(), /Found by/);
  assert.match((await hits(page).first().getByRole("img").getAttribute("aria-label")) ?? "", /Parts of the score: meaning/);
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/console\/memories\/\d+/);
  await page.goBack();
  await hits(page).first().waitFor();
  assert.equal(await page.getByRole("searchbox").inputValue(), "How fast was semantic parcel lookup?");
  await page.context().close();
});

test("an older answer never replaces a newer one", async () => {
  const page = await fixture.page(`/?namespace=atlas`);
  const isOlder = (request: Request): boolean => request.url().endsWith("/v1/recall") && request.postDataJSON().query === "parcel";
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/v1/recall", async (route) => {
    if (isOlder(route.request())) await released;
    await route.continue().catch(() => undefined); // it was aborted meanwhile
  });
  const asked = page.waitForRequest(isOlder);
  const ended = Promise.race([page.waitForEvent("requestfinished", isOlder), page.waitForEvent("requestfailed", isOlder)]);
  await page.getByRole("searchbox").fill("parcel");
  await asked;
  await page.getByRole("searchbox").fill("zzyzxqq");
  await page.getByRole("button", { name: "Words", exact: true }).click();
  await page.getByText("Nothing matches").waitFor();
  release();
  await ended;
  // Whatever it would change is drawn by now.
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
  assert.equal(await hits(page).count(), 0);
  await page.context().close();
});

test("chips narrow the search, and strategies stand side by side", async () => {
  const page = await fixture.page(`/?namespace=atlas&q=parcel+search`);
  await hits(page).first().waitFor();
  await hits(page).first().locator("button.chip").first().click();
  await page.waitForURL(/tag=/);
  const tag = new URL(page.url()).searchParams.get("tag") ?? "";
  await page.getByText(`tag: ${tag}`, { exact: true }).waitFor();
  await page.getByRole("button", { name: `Remove tag: ${tag}` }).click();
  await page.getByRole("button", { name: "Side by side" }).click();
  for (const name of ["Hybrid", "Meaning", "Words"]) await page.getByRole("region", { name }).locator(".hit").first().waitFor();
  await page.getByLabel("Timeframe").fill("tomorrow in a way nobody says");
  await page.getByLabel("Timeframe").press("Tab");
  await page.getByRole("alert").first().waitFor();
  await page.context().close();
});

test("stored text is never markup", async () => {
  const script = '<script>document.title = "owned"</script><img src=x onerror="document.title = \'owned\'">';
  await fixture.server.api("/v1/memories", { content: `A note on ${script} and quaggas`, namespace: "atlas", tags: ["safety"], robot: "<b>eve</b>" });
  const page = await fixture.page(`/?namespace=atlas&q=quaggas&strategy=fulltext`);
  await hits(page).first().waitFor();
  const text = await hits(page).first().innerText();
  assert.ok(text.includes("<script>") && text.includes("<b>eve</b>"), text);
  assert.equal(await page.locator(".hit script, .hit img, .hit b").count(), 0);
  assert.match(await page.title(), /Search/);
  await page.context().close();
});

test("the score is the sum of its parts", async () => {
  for (const strategy of ["hybrid", "vector", "fulltext"]) {
    const page = await fixture.page(`/?namespace=atlas&q=parcel+search&strategy=${strategy}`);
    await hits(page).first().waitFor();
    for (const hit of await hits(page).all()) {
      const score = Number(await hit.locator(".score").innerText());
      const parts = (await hit.locator(".part").allInnerTexts()).map((part) => Number(/-?[\d.]+$/.exec(part.trim())?.[0]));
      const sum = parts.reduce((sum, part) => sum + part, 0);
      assert.ok(Math.abs(sum - score) < 0.001, `${strategy}: ${parts.join(" + ")} = ${score}`);
    }
    await page.context().close();
  }
});

test("another namespace keeps the question, and a hit keeps the namespace", async () => {
  await fixture.server.api("/v1/memories", { content: "A parcel of the lab", namespace: "lab", robot: "eve" });
  const page = await fixture.page(`/?namespace=atlas&q=parcel&tag=database&strategy=fulltext&time=this+year`);
  await page.getByLabel("Namespace").selectOption("lab");
  await page.waitForURL((url) => url.search === "?namespace=lab&q=parcel&strategy=fulltext&time=this+year");
  await page.getByRole("button", { name: "Remove time: this year" }).click();
  await page.getByText("A parcel of the lab").waitFor();
  await hits(page).first().getByRole("link").click();
  await page.waitForURL(/\/console\/memories\/\d+\?namespace=lab$/);
  await until(async () => (await page.getByLabel("Namespace").inputValue()) === "lab");
  await page.getByLabel("Namespace").selectOption("atlas");
  await page.waitForURL((url) => url.pathname + url.search === "/?namespace=atlas");
  await page.context().close();
});

test("a question that is too long for an address is searched, and is there again after a reload", async () => {
  const page = await fixture.page("/?namespace=atlas");
  const box = page.getByRole("searchbox");
  const question = "parcel lookup ".repeat(700).trim();
  const isShown = async (text: string): Promise<boolean> => (await box.inputValue()) === text && (await hits(page).count()) > 0;
  await box.fill(question);
  await box.press("Enter");
  await until(() => isShown(question));
  assert.ok(page.url().length < 8_000, page.url());
  await page.getByRole("button", { name: "Words", exact: true }).click();
  await page.waitForURL(/strategy=fulltext/);
  await page.reload();
  await until(async () => (await box.inputValue()) === question);
  await box.fill("parcel");
  await page.waitForURL(/q=parcel/);
  await until(() => isShown("parcel"));
  await page.goBack();
  await until(async () => (await box.inputValue()) === question);
  await page.context().close();
});

test("back returns to the former search, not to its letters", async () => {
  // The first letters change the path too: the focus stays in the box.
  const page = await fixture.page(`/console/?namespace=atlas`);
  const box = page.getByRole("searchbox");
  const isFocused = async (): Promise<boolean> => box.evaluate((box) => box === box.ownerDocument.activeElement);
  await box.waitFor();
  assert.ok(await isFocused(), "the search box has the focus");
  const search = async (text: string): Promise<void> => {
    await box.fill("");
    await box.pressSequentially(text, { delay: 60 });
    await page.waitForURL((url) => url.searchParams.get("q") === text);
    await box.press("Enter");
    await page.locator(".hit-link:focus").waitFor();
  };
  await search("parcel");
  await search("backup");
  await search("migration");
  for (const text of ["backup", "parcel"]) {
    await page.goBack();
    await page.waitForURL((url) => url.searchParams.get("q") === text);
    // The path changes before the page does.
    await until(async () => (await box.inputValue()) === text);
    await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
    assert.equal(await box.inputValue(), text);
  }
  await page.context().close();
});

test("Enter goes to the first hit of its own answer, and a first answer is awaited in words", async () => {
  const page = await fixture.page(`/?namespace=atlas`);
  let release = (): void => undefined;
  const hold = (): void => {
    const released = new Promise<void>((resolve) => (release = resolve));
    void page.route("**/v1/recall", async (route) => {
      await released;
      await route.continue().catch(() => undefined); // it was aborted meanwhile
    });
  };
  const box = page.getByRole("searchbox");
  hold();
  await box.fill("parcel");
  await page.getByText("Loading").waitFor();
  release();
  await hits(page).first().waitFor();
  await page.unroute("**/v1/recall");
  const first = await page.locator(".hit-link").first().getAttribute("href");
  hold();
  await box.fill("When is the base backup made?");
  await box.press("Enter");
  await page.waitForURL(/base\+backup/);
  assert.equal(await page.locator(".hit-link:focus").count(), 0, "the former answer has the focus");
  release();
  await page.locator(".hit-link:focus").waitFor();
  const focused = await page.locator(".hit-link:focus").getAttribute("href");
  assert.notEqual(focused, first);
  assert.equal(focused, await page.locator(".hit-link").first().getAttribute("href"));
  await page.context().close();
});

test("a time names the zone that it is in", async () => {
  const page = await fixture.page("/?q=parcel&time=2024&namespace=atlas", { timezoneId: "Asia/Tokyo" });
  await page.getByText(/from .* GMT\+9 until .* GMT\+9/).waitFor();
  await page.context().close();
});

test("what is chosen and how long a bar is are seen also with the colours of the system", async () => {
  const page = await fixture.page("/?q=parcel&namespace=atlas", { forcedColors: "active" });
  const styleOf = (of: Locator, property: string): Promise<string> =>
    of.evaluate((element, property) => (globalThis as unknown as Styles).getComputedStyle(element)[property] ?? "", property);
  const backgroundOf = (of: Locator): Promise<string> => styleOf(of, "backgroundColor");
  const chip = (name: string): Locator => page.getByRole("button", { name, exact: true });
  assert.notEqual(await backgroundOf(chip("Hybrid")), await backgroundOf(chip("Meaning")));
  const bar = page.locator(".hit .bar").first();
  assert.notEqual(await backgroundOf(bar.locator("span").first()), await backgroundOf(bar));
  await page.getByRole("link", { name: "Pipeline", exact: true }).click();
  const tabs = page.getByRole("navigation", { name: "Parts of the pipeline" });
  const lineOf = (name: string): Promise<string> => styleOf(tabs.getByRole("link", { name }), "borderBottomColor");
  assert.notEqual(await lineOf("Overview"), await lineOf("Jobs"));
  await page.context().close();
});

test("where nothing passes the filters, one button removes them", async () => {
  const page = await fixture.page(`/?namespace=atlas&q=parcel&time=1999&type=none&session=none&strategy=fulltext`);
  await page.getByText("Nothing matches within these filters").waitFor();
  await page.getByText("time: 1999", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Remove all filters" }).click();
  await page.waitForURL((url) => url.search === "?namespace=atlas&q=parcel&strategy=fulltext");
  await hits(page).first().waitFor();
  await page.context().close();
});

test("a namespace without memories says where there are some", async () => {
  for (const [query, searched] of [["?q=parcel", "default"], ["?namespace=nosuch&q=parcel", "nosuch"], ["?namespace=nosuch", "nosuch"]]) {
    const page = await fixture.page(`/${query}`);
    await page.getByText(`There is no memory in ${searched}. Memories are in`).waitFor();
    await page.locator(".others").getByRole("link", { name: "atlas", exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get("namespace") === "atlas");
    if (query?.includes("q=")) await hits(page).first().waitFor();
    await page.context().close();
  }
  const page = await fixture.page("/?namespace=atlas&q=zzyzxqq&strategy=fulltext");
  await page.getByText("Nothing matches").waitFor();
  await page.waitForLoadState("networkidle");
  assert.equal(await page.getByText("There is no memory in").count(), 0);
  await page.context().close();
});

test("long names and names from right to left stay in their place", async () => {
  const robot = `robot-${"x".repeat(81)}`;
  const session = "s".repeat(300);
  const namespace = "hostile";
  await fixture.server.api("/v1/memories", { content: `An okapi ${"o".repeat(500)}`, namespace, robot, session, speaker: "\u202Eeve" });
  const path = `/?namespace=${namespace}&q=okapi&strategy=fulltext`;
  const found = (page: Page) => hits(page).first().waitFor();
  const page = await fixture.page(path);
  await found(page);
  assert.deepEqual(await hits(page).first().locator("bdi").allInnerTexts(), ["\u202Eeve", robot, session]);
  await page.context().close();
  await fixture.checkAccess(path, found);
  await fixture.checkAccess(`${path}&robot=${robot}&session=${session}`, found);
  await fixture.checkAccess(`${path}&compare=yes`, (page) => page.getByRole("region", { name: "Words" }).locator(".hit").waitFor());
});

test("three strategies stand side by side at 900 pixels, and one below the other at 400", async () => {
  for (const [width, columns] of [[900, 3], [400, 1]] as const) {
    const page = await fixture.page(`/?namespace=atlas&q=parcel&compare=yes`, { viewport: { width, height: 900 } });
    await hits(page).first().waitFor();
    const lefts = await page.locator(".compared > section").evaluateAll((sections) => sections.map((section) => section.getBoundingClientRect().left));
    assert.equal(new Set(lefts).size, columns);
    await page.context().close();
  }
});

test("the hint of the key is where there are keys and room", async () => {
  const wide = { width: 1280, height: 900 };
  const narrow = { width: 390, height: 844 };
  for (const [options, isHinted] of [[{ viewport: wide }, true], [{ viewport: narrow }, false], [{ viewport: wide, hasTouch: true, isMobile: true }, false]] as const) {
    const page = await fixture.page("/", options);
    const hint = await page.getByRole("searchbox").getAttribute("placeholder");
    assert.equal(hint?.includes("press /"), isHinted, JSON.stringify(options));
    await page.context().close();
  }
});

test("a limit that is no number of memories is left out", async () => {
  for (const limit of ["-5", "1.5", "many"]) {
    const page = await fixture.page(`/?namespace=atlas&q=parcel&limit=${limit}`);
    await hits(page).first().waitFor();
    await page.context().close();
  }
});

test("nothing serious is found by axe, at any width", async () => {
  const found = (page: Page) => hits(page).first().waitFor();
  await fixture.checkAccess(`/?namespace=atlas&q=parcel+search`, found);
  await fixture.checkAccess(`/?namespace=atlas&q=parcel+search&compare=yes`, found);
  await fixture.checkAccess(`/`, (page) => page.getByText("Ask a question").waitFor());
});

test("the first view is small", async () => {
  const sizes = await Promise.all(
    ["/", "/console/app.js", "/console/style.css", "/console/icon.svg"].map(async (path) => (await (await fetch(fixture.server.url + path)).arrayBuffer()).byteLength),
  );
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(whole <= 400_000, `${whole} bytes`);
});
