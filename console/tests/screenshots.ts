// Pictures of the console with the demo's memories.
//   screenshots.js                    makes those of the guides, in docs/images
//   screenshots.js FOLDER [VIEW …]    makes one of each view, or of these, at each width in each theme, to look at

import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { open, startBrowser } from "./browser.js";
import { startServer, type Server } from "./server.js";

const IMAGES = resolve(import.meta.dirname, "../../../docs/images");
const THEMES = ["light", "dark"] as const;
const WIDTHS = [400, 900, 1600];

interface Shot {
  path: string;
  /** Waits until the view shows what it is to show, and does what is to be seen. */
  ready?: (page: Page) => Promise<unknown>;
}

const SEARCH: Shot = {
  path: "/?namespace=atlas&q=why+is+the+parcel+search+slow",
  ready: (page) => page.locator(".hit").first().waitFor(),
};
const TAGS: Shot = {
  path: "/console/tags?namespace=atlas",
  ready: async (page) => {
    await page.getByRole("button", { name: "Unfold all" }).click();
    await page.locator("[role=treeitem]").nth(5).waitFor();
  },
};

function views(memory: number): Record<string, Shot> {
  const namespace = "namespace=atlas";
  return {
    search: SEARCH,
    "search-compared": { path: "/?namespace=atlas&q=parcel+search&compare=yes" },
    "search-nothing": { path: "/?namespace=atlas&q=zzzqqq&strategy=fulltext" },
    memory: { path: `/console/memories/${memory}` },
    "memory-origins": {
      path: `/console/memories/${memory}`,
      ready: (page) => page.getByText("Where these tags come from").click(),
    },
    tags: TAGS,
    "tags-suggestions": {
      path: `/console/tags?${namespace}&part=suggestions`,
      ready: (page) => page.getByText("marked as distinct").click(),
    },
    "tags-history": { path: `/console/tags?${namespace}&part=history` },
    "tags-empty": { path: "/console/tags?namespace=nowhere" },
    timeline: { path: `/console/timeline?${namespace}` },
    "timeline-tags": { path: `/console/timeline?${namespace}&by=tag` },
    map: { path: `/console/map?${namespace}` },
    "map-lasso": { path: `/console/map?${namespace}&lasso=-0.5,-0.5+0.5,-0.5+0.5,0.5+-0.5,0.5` },
    "map-empty": { path: "/console/map?namespace=nowhere" },
    "working-memory": { path: `/console/working-memory?${namespace}` },
    robot: {
      path: `/console/working-memory?${namespace}`,
      ready: (page) => page.getByText("architect").first().click(),
    },
    pipeline: { path: "/console/pipeline" },
    "dead-letters": { path: "/console/pipeline/dead-letters" },
    jobs: { path: "/console/pipeline/jobs" },
    providers: { path: "/console/pipeline/providers" },
    models: { path: "/console/pipeline/models" },
    keys: { path: "/console/keys" },
    audit: { path: "/console/keys?tab=audit" },
    missing: { path: "/console/nowhere" },
  };
}

/** What somebody would find after a day: a working memory, a dead letter, tags that mean the same. */
async function lived({ api }: Server): Promise<number> {
  await api("/v1/recall", { query: "parcel search", robot: "architect", filter: { namespaces: ["atlas"] } });
  await api("/v1/queues/htm.tag/pause", { reason: "the new prompt is being tried" });
  const note = { namespace: "atlas", robot: "architect", content: "The depot of Leeds prints two labels for each parcel." };
  await api("/v1/memories", note);
  await api("/v1/jobs/cancel", { queue: "htm.tag", confirm: true });
  await api("/v1/queues/htm.tag/resume", {});
  for (const tag of ["label:print", "label:prints-cheap"]) await api("/v1/memories", { ...note, content: `About ${tag}.`, tags: [tag] });
  for (const tag of ["depot:leeds", "depot:leeds-old"]) await api("/v1/memories", { ...note, content: `At ${tag}.`, tags: [tag] });
  await api("/v1/tags/distinct/add", { namespace: "atlas", tag: "depot:leeds", other: "depot:leeds-old" });
  const body = { query: "parcel search", limit: 1, filter: { namespaces: ["atlas"] } };
  const { hits } = await api<{ hits: { id: number }[] }>("/v1/recall", body);
  return hits[0]?.id ?? 1;
}

interface Look {
  width: number;
  theme: "light" | "dark";
  /** The height of the part that is seen; none: the whole page. */
  height?: number;
}

async function taken(browser: Browser, url: string, shot: Shot, { width, theme, height }: Look, file: string): Promise<void> {
  const page = await open(browser, url + shot.path, { viewport: { width, height: height ?? 800 }, colorScheme: theme });
  await page.getByRole("heading", { level: 1 }).waitFor({ state: "attached" });
  await shot.ready?.(page);
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: file, fullPage: height === undefined });
  await page.context().close();
}

const server = await startServer();
const browser = await startBrowser();
try {
  const memory = await lived(server);
  const [folder, ...wanted] = process.argv.slice(2);
  if (folder === undefined) {
    await mkdir(IMAGES, { recursive: true });
    const look: Look = { width: 1200, theme: "light", height: 900 };
    await taken(browser, server.url, SEARCH, look, join(IMAGES, "console-search.png"));
    await taken(browser, server.url, TAGS, look, join(IMAGES, "console-tags.png"));
  } else {
    await mkdir(folder, { recursive: true });
    for (const [name, shot] of Object.entries(views(memory))) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      for (const width of WIDTHS) {
        for (const theme of THEMES) await taken(browser, server.url, shot, { width, theme }, join(folder, `${name}-${width}-${theme}.png`));
      }
      console.log(name);
    }
  }
} finally {
  await browser.close();
  await server.stop();
}
