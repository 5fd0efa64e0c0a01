// The ontology of a namespace as the server has it.

import type { models } from "htm-memory";
import { htm } from "../../server";

/** All tags and their other names. */
export interface Ontology {
  uses: models.TagUse[];
  synonyms: models.Synonym[];
}

const PAGE = 10_000;

export async function ontology(namespace: string | undefined, signal: AbortSignal): Promise<Ontology> {
  const [uses, synonyms] = await Promise.all([
    allTags(namespace, signal),
    htm.tags.synonyms({ namespace }, { signal }),
  ]);
  return { uses, synonyms };
}

async function allTags(namespace: string | undefined, signal: AbortSignal): Promise<models.TagUse[]> {
  const tags: models.TagUse[] = [];
  let cursor: string | null | undefined;
  do {
    const page: models.TagPage = await htm.tags.list({ namespace, cursor, limit: PAGE }, { signal });
    tags.push(...page.tags);
    cursor = page.next;
  } while (cursor);
  return tags;
}
