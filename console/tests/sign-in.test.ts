import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { startedFixture } from "./fixture.js";
import { startEmptyServer, until, type Server } from "./server.js";

// The secrets of two administrators.
const keys: string[] = [];
let memory: number;

const fixture = startedFixture(() => startEmptyServer("embedding.provider=fake", "tag.provider=fake"), fill);

async function fill({ api, htm, url }: Server): Promise<void> {
  memory = (await api<{ node: number }>("/v1/memories", { content: "The lift stops at floor 3.", robot: "ada" })).node;
  for (const name of ["ann", "ben"]) {
    const created = await htm("keys", "create", "--role", "admin", "--name", name, "--json");
    keys.push(JSON.parse(created).secret);
  }
  // The server notices its first key within a second.
  await until(async () => (await fetch(`${url}/console/sign-in`)).status === 401);
}

async function signIn(page: Page, who: 0 | 1): Promise<void> {
  await page.getByLabel("Key", { exact: true }).fill(keys[who] ?? "");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByTitle(`Signed in as ${["ann", "ben"][who]}, admin`).waitFor();
}

/** Somebody comes back to the tab. */
async function look(page: Page): Promise<void> {
  await page.evaluate("void document.dispatchEvent(new Event('visibilitychange'))");
}

/** Somebody else signs in, in another tab, and comes back to the first one. */
async function signInElsewhere(page: Page): Promise<void> {
  const other = await page.context().newPage();
  await other.goto(fixture.server.url);
  await other.getByRole("button", { name: "Sign out" }).click();
  await signIn(other, 1);
  await look(page);
  await page.getByTitle("Signed in as ben, admin").waitFor();
}

async function edited(page: Page, text: string): Promise<void> {
  await page.getByLabel("Text", { exact: true }).fill(text);
  await page.getByRole("button", { name: "Save" }).and(page.locator(":enabled")).waitFor();
}

test("a sign-out that fails is told, and one that is done leaves nothing", async () => {
  const page = await fixture.page(`/console/memories/${memory}?edit=yes&namespace=default`);
  await signIn(page, 0);
  await page.route("**/console/sign-in", (route) => (route.request().method() === "DELETE" ? route.abort() : route.continue()));
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.locator(".toasts").getByText("The server does not answer.").waitFor();
  await page.getByTitle("Signed in as ann, admin").waitFor();
  await page.unroute("**/console/sign-in");

  // What is not saved is asked about.
  await edited(page, "The lift stops at floor 4.");
  await page.getByRole("button", { name: "Sign out" }).click();
  const dialog = page.getByRole("dialog", { name: "Sign out without saving?" });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await page.getByLabel("Text", { exact: true }).inputValue(), "The lift stops at floor 4.");
  await page.getByRole("button", { name: "Sign out" }).click();
  await dialog.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.equal(page.url(), `${fixture.server.url}/`);
  await signIn(page, 0);
  await page.goto(`${fixture.server.url}/console/memories/${memory}`);
  await page.getByRole("link", { name: "Edit", exact: true }).waitFor();
  await page.context().close();
});

test("a draft outlives a sign-in that has ended, for the same key only", async () => {
  const page = await fixture.page(`/console/memories/${memory}?edit=yes`);
  await signIn(page, 0);
  await edited(page, "The lift stops at floor 5.");
  const ended = async (): Promise<void> => {
    await page.context().clearCookies();
    await look(page);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  };
  await ended();
  await signIn(page, 0);
  await page.getByText("Here is what you had not saved yet.").waitFor();
  assert.equal(await page.getByLabel("Text", { exact: true }).inputValue(), "The lift stops at floor 5.");
  for (const who of [1, 0] as const) {
    await ended();
    await signIn(page, who);
    await page.getByRole("heading", { name: "Edit the memory" }).waitFor();
    assert.equal(await page.getByLabel("Text", { exact: true }).inputValue(), "The lift stops at floor 3.");
    assert.equal(await page.getByText("Here is what you had not saved yet.").count(), 0);
  }
  await page.context().close();
});

test("another user in another tab gets a page of their own", async () => {
  const page = await fixture.page("/console/keys");
  await signIn(page, 0);
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name, for people").fill("for ann's robot");
  // The same user: what is on the page stays.
  const asked = page.waitForResponse("**/console/sign-in");
  await look(page);
  await (await asked).finished();
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
  assert.equal(await page.getByLabel("Name, for people").inputValue(), "for ann's robot");

  await signInElsewhere(page);
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.context().close();
});

test("commas alone are no namespaces of a new key, and a limit is one that the server has", async () => {
  const page = await fixture.page("/console/keys");
  await signIn(page, 0);
  await page.getByRole("button", { name: "New key" }).click();
  const isValid = (label: RegExp): Promise<boolean> =>
    page.getByLabel(label).evaluate((field) => (field as unknown as { validity: { valid: boolean } }).validity.valid);
  for (const [label, text, is] of [
    [/^Namespaces/, " , , ", false],
    [/^Namespaces/, " , lab, ", true],
    [/^Namespaces/, " ", true],
    [/^Requests a minute/, "99999999999", false],
    [/^Requests a minute/, "2147483647", true],
  ] as const) {
    await page.getByLabel(label).fill(text);
    assert.equal(await isValid(label), is, text);
  }
  await page.context().close();
});

test("a new key is not shown to another user", async () => {
  const page = await fixture.page("/console/keys");
  await signIn(page, 0);
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("button", { name: "Create" }).click();
  assert.match(await page.getByLabel("Key", { exact: true }).inputValue(), /^htm_/);
  await signInElsewhere(page);
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.context().close();
});
