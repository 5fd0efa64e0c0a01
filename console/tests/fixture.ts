// A server and a browser, for the tests of a file.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { checkAccess, open, startBrowser } from "./browser.js";
import { startServer, type Server } from "./server.js";

export class Fixture {
  #server: Server | undefined;
  #browser: Browser | undefined;

  get server(): Server {
    assert.ok(this.#server, "the server runs");
    return this.#server;
  }

  get browser(): Browser {
    assert.ok(this.#browser, "the browser runs");
    return this.#browser;
  }

  /** Opens a path of the server. */
  page(path: string, options?: BrowserContextOptions): Promise<Page> {
    return open(this.browser, this.server.url + path, options);
  }

  /** See `checkAccess` of browser.ts. */
  checkAccess(path: string, isReady: (page: Page) => Promise<unknown>): Promise<void> {
    return checkAccess(this.browser, this.server.url + path, isReady);
  }

  async start(serve: () => Promise<Server>): Promise<void> {
    this.#server = await serve();
    this.#browser = await startBrowser();
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    await this.#server?.stop();
  }
}

/** Starts both before the tests of this file, and stops them afterwards. `prepare` follows the start. */
export function startedFixture(serve: () => Promise<Server> = startServer, prepare?: (server: Server) => Promise<unknown>): Fixture {
  const fixture = new Fixture();
  before(async () => {
    await fixture.start(serve);
    await prepare?.(fixture.server);
  });
  after(() => fixture.stop());
  return fixture;
}
