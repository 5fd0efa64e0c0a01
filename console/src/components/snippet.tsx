// A passage of a memory, with the words of the question marked.

import type { JSX } from "preact";

// The server escapes these and no others.
const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** The parts of a passage, as texts: a stored text is never markup here. */
export function partsOf(html: string): { text: string; isMarked: boolean }[] {
  return html.split(/<mark>(.*?)<\/mark>/s).map((part, index) => ({
    text: part.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity),
    isMarked: index % 2 === 1,
  }));
}

/** The passage, or the beginning of the text if there is none. */
export function Snippet({ html, text }: { html: string | undefined; text: string }): JSX.Element {
  const parts = html ? partsOf(html) : [{ text: text.length > 400 ? `${text.slice(0, 400)}…` : text, isMarked: false }];
  return <p class="stored passage">{parts.map(({ text, isMarked }, index) => (isMarked ? <mark key={index}>{text}</mark> : text))}</p>;
}
