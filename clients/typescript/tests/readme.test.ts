// The README's blocks compile and run, one after the other.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { url } from "./support.js";

test("the README is true", () => {
  const root = new URL("../", import.meta.url);
  const text = readFileSync(new URL("README.md", root), "utf8");
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((found) => found[1]);
  assert(blocks.length > 5);
  const server = `new Htm({ url: ${JSON.stringify(url)} })`;
  // Texts of this run, as an edit cannot give a memory the text of another one.
  const program = blocks.join("").replace("new Htm()", server).replaceAll("Mara", randomUUID());
  writeFileSync(new URL("build/readme.ts", root), program);
  const options = { cwd: fileURLToPath(root), encoding: "utf8" } as const;
  const strict = "--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess";
  const tsc = `--ignoreConfig ${strict} --target es2022 --module nodenext --types node build/readme.ts`;
  execFileSync("node_modules/.bin/tsc", tsc.split(" "), options);
  const told = execFileSync(process.execPath, ["build/readme.js"], options);
  assert.match(told, /memory \d+ has the key/);
  assert.match(told, /jobs of htm\.\S+ are due/);
});
