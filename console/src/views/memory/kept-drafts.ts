// Drafts outlive their form: somebody who goes back by mistake finds the words again. They are gone with the page,
// and with their author.

import type { models } from "htm-memory";
import type { Draft } from "./draft";

interface Kept {
  draft: Draft;
  /** What it is an edit of. */
  base: models.Node;
}

const kept = new Map<number, Kept>();

export function keptDraft(id: number): Kept | undefined {
  return kept.get(id);
}

export function keepDraft(id: number, draft: Kept): void {
  kept.set(id, draft);
}

export function hasDrafts(): boolean {
  return kept.size > 0;
}

export function dropDrafts(): void {
  kept.clear();
}

export function dropDraft(id: number): void {
  kept.delete(id);
}
