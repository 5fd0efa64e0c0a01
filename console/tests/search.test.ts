import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { checkAccess, open, startBrowser } from "./browser.js";
import { startServer, until, type Server } from "./server.js";

let server: Server;
let browser: Browser;

before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const hits = (page: Page) => page.locator(".hit");

test("a stranger finds a memory and sees why it was found", async () => {
  const page = await open(browser, server.url);
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
  const page = await open(browser, `${server.url}/?namespace=atlas`);
  let held = 0;
  await page.route("**/v1/recall", async (route) => {
    const { query } = route.request().postDataJSON();
    if (query === "parcel") {
      held += 1;
      await new Promise((done) => setTimeout(done, 1_500));
    }
    await route.continue().catch(() => undefined); // it was aborted meanwhile
  });
  await page.getByRole("searchbox").fill("parcel");
  await until(async () => held === 1);
  await page.getByRole("searchbox").fill("zzyzxqq");
  await page.getByRole("button", { name: "Words", exact: true }).click();
  await page.getByText("Nothing matches").waitFor();
  await page.waitForTimeout(2_000);
  assert.equal(await hits(page).count(), 0);
  await page.context().close();
});

test("chips narrow the search, and strategies stand side by side", async () => {
  const page = await open(browser, `${server.url}/?namespace=atlas&q=parcel+search`);
  await hits(page).first().waitFor();
  await hits(page).first().locator("button.chip").first().click();
  await page.waitForURL(/tag=/);
  const tag = new URL(page.url()).searchParams.get("tag") ?? "";
  await page.getByLabel(`tag: ${tag}`, { exact: true }).waitFor();
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
  await server.api("/v1/memories", { content: `A note on ${script} and quaggas`, namespace: "atlas", tags: ["safety"], robot: "<b>eve</b>" });
  const page = await open(browser, `${server.url}/?namespace=atlas&q=quaggas&strategy=fulltext`);
  await hits(page).first().waitFor();
  const text = await hits(page).first().innerText();
  assert.ok(text.includes("<script>") && text.includes("<b>eve</b>"), text);
  assert.equal(await page.locator(".hit script, .hit img, .hit b").count(), 0);
  assert.match(await page.title(), /Search/);
  await page.context().close();
});

test("nothing serious is found by axe, at any width", async () => {
  const found = (page: Page) => hits(page).first().waitFor();
  await checkAccess(browser, `${server.url}/?namespace=atlas&q=parcel+search`, found);
  await checkAccess(browser, `${server.url}/?namespace=atlas&q=parcel+search&compare=yes`, found);
  await checkAccess(browser, `${server.url}/`, (page) => page.getByText("Ask a question").waitFor());
});

test("the first view is small", async () => {
  const sizes = await Promise.all(
    ["/", "/console/app.js", "/console/style.css", "/console/icon.svg"].map(async (path) => (await (await fetch(server.url + path)).arrayBuffer()).byteLength),
  );
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(whole <= 400_000, `${whole} bytes`);
});
