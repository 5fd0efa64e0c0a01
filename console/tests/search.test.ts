import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page, Request } from "playwright-core";
import { startedFixture } from "./fixture.js";

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
