// Chromium, and what every page is checked for.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

const PROGRAM = process.env["CHROMIUM"] || "/usr/bin/chromium";
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"];

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: PROGRAM, args: [...ARGUMENTS, "--disable-component-update", "--disable-sync"] });
}

/** A page that fails the test if a script fails, or if something is asked of another host. */
export async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) faults.push(`a request to ${request.url()}`);
  });
  page.on("console", (message) => {
    // A refused request is logged by the browser; the page tells it.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) faults.push(message.text());
  });
  page.on("close", () => assert.deepEqual(faults, []));
  await page.goto(url);
  return page;
}

/** Nothing that axe finds, in either theme; and the page does not scroll sideways at any width. */
export async function checkAccess(browser: Browser, url: string, isReady: (page: Page) => Promise<unknown>): Promise<void> {
  const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [360, 900, 1600]) {
      // The policy of the page would refuse the checker.
      const page = await open(browser, url, { colorScheme, bypassCSP: true, viewport: { width, height: 900 } });
      await isReady(page);
      await page.evaluate(axe);
      const found = await page.evaluate<string[], string[]>(async (rules) => {
        const { axe } = globalThis as unknown as { axe: { run: (options: object) => Promise<{ violations: Violation[] }> } };
        interface Violation {
          id: string;
          nodes: { target: string[] }[];
        }
        const { violations } = await axe.run({ runOnly: rules });
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
      }, RULES);
      assert.deepEqual(found, [], `${url} ${colorScheme} ${width}`);
      const over = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      assert.ok(Number(over) <= 0, `${url} scrolls sideways at ${width}`);
      await page.context().close();
    }
  }
}
