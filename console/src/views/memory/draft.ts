// An edit that is not saved yet: the fields as they are typed.

import type { models } from "htm-memory";

export interface Draft {
  content: string;
  importance: string;
  type: string;
  source: string;
  key: string;
  tags: string[];
  /** As JSON. */
  metadata: string;
}

/** Fields that are wrong, and why. */
export type Mistakes = Partial<Record<keyof Draft, string>>;

type Fields = Record<string, unknown>;

export function draftOf(memory: models.Node): Draft {
  return {
    content: memory.content,
    importance: String(Math.round(memory.importance * 1000) / 1000),
    type: memory.type ?? "",
    source: memory.source ?? "",
    key: memory.key ?? "",
    tags: [...memory.tags],
    metadata: JSON.stringify(memory.metadata, null, 2),
  };
}

export function mistakesOf(draft: Draft, memory: models.Node): Mistakes {
  const mistakes: Mistakes = {};
  const importance = Number(draft.importance);
  if (!draft.content.trim()) mistakes.content = "The text is empty. To get rid of the memory, forget it.";
  if (!draft.importance.trim() || !(importance >= 1 && importance <= 10))
    mistakes.importance = "A number from 1 to 10.";
  const metadata = parsed(draft.metadata);
  if (metadata === undefined) mistakes.metadata = 'This is no JSON object. One looks like this: {"ticket": 7}';
  else if (Object.entries(metadata).some(([name, value]) => value === null && metadataOf(memory)[name] !== null)) {
    mistakes.metadata = "An entry cannot become null: it would be removed. Leave it out.";
  } else if (changesRounded(metadataOf(memory), metadata)) {
    mistakes.metadata = "An entry with an integer beyond 2⁵³ cannot be changed here: this page would round it.";
  }
  return mistakes;
}

/** What a draft changes of a memory, for the server. It has to be without mistakes. */
export function changesOf(draft: Draft, memory: models.Node): models.MemoryEdit {
  const former = draftOf(memory);
  const changes: models.MemoryEdit = {};
  if (draft.content !== former.content) changes.content = draft.content;
  if (draft.importance !== former.importance) changes.importance = Number(draft.importance);
  for (const field of ["type", "source", "key"] as const) {
    if (draft[field].trim() !== former[field]) changes[field] = draft[field].trim() || null;
  }
  const metadata = entriesChanged(metadataOf(memory), parsed(draft.metadata) ?? {});
  if (Object.keys(metadata).length > 0) changes.metadata = metadata;
  const added = without(draft.tags, former.tags);
  const removed = without(former.tags, draft.tags);
  if (added.length > 0) changes.add_tags = added;
  if (removed.length > 0) changes.remove_tags = removed;
  return changes;
}

const LINE_END = /\r\n|\r|\n/g;

/**
 * A typed text with the line ends of the former text: a text field makes each one \n. New lines end as the first one did.
 */
export function withLineEnds(typed: string, former: string): string {
  if (!former.includes("\r")) return typed;
  const before = former.split(LINE_END);
  const ends = former.match(LINE_END) ?? [];
  const lines = typed.split("\n");
  const most = Math.min(before.length, lines.length);
  let head = 0;
  while (head < most && lines[head] === before[head]) head += 1;
  let tail = 0;
  while (tail < most - head && lines.at(-1 - tail) === before.at(-1 - tail)) tail += 1;
  const last = lines.length - 1;
  const endOf = (line: number): string | undefined => {
    if (line < head) return ends[line];
    return line >= last - tail ? ends[ends.length - last + line] : undefined;
  };
  return lines.map((text, line) => (line === last ? text : text + (endOf(line) ?? ends[0]))).join("");
}

export function isChanged(draft: Draft, memory: models.Node): boolean {
  return JSON.stringify(draft) !== JSON.stringify(draftOf(memory));
}

/** The draft on top of a newer memory: what was not changed in it is as it is there. The text stays. */
export function rebased(draft: Draft, base: models.Node, newer: models.Node): Draft {
  const [former, latest] = [draftOf(base), draftOf(newer)];
  const result = { ...draft };
  for (const field of ["importance", "type", "source", "key"] as const) {
    if (draft[field] === former[field]) result[field] = latest[field];
  }
  result.tags = [
    ...without(latest.tags, without(former.tags, draft.tags)),
    ...without(draft.tags, [...former.tags, ...latest.tags]),
  ];
  const typed = parsed(draft.metadata);
  if (typed) {
    const changed = entriesChanged(metadataOf(base), typed);
    const merged = Object.entries({ ...metadataOf(newer), ...changed }).filter(([name]) => changed[name] !== null);
    result.metadata = JSON.stringify(Object.fromEntries(merged), null, 2);
  }
  return result;
}

function metadataOf({ metadata }: models.Node): Fields {
  return isFields(metadata) ? metadata : {};
}

/** The object of a JSON text. */
function parsed(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text.trim() || "{}");
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The entries to set; null for one to remove. Only these are sent, so that the others stay as they are stored. */
function entriesChanged(former: Fields, latter: Fields): Fields {
  const names = new Set([...Object.keys(former), ...Object.keys(latter)]);
  const changed = [...names].filter((name) => JSON.stringify(former[name]) !== JSON.stringify(latter[name]));
  return Object.fromEntries(changed.map((name) => [name, latter[name] ?? null]));
}

/** Whether an entry is changed that has, or had, an integer that JavaScript rounds. The undo sets the former entry. */
function changesRounded(former: Fields, latter: Fields): boolean {
  return Object.keys(entriesChanged(former, latter)).some((name) => isRounded(former[name]) || isRounded(latter[name]));
}

/** Whether it has an integer that is exact in the server (of 64 bits), and not here. */
export function isRounded(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).some(isRounded);
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(Number(value)) <= 2 ** 64;
}

function without(items: readonly string[], left: readonly string[]): string[] {
  const set = new Set(left);
  return items.filter((item) => !set.has(item));
}
