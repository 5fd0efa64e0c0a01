// A box to find a memory by its number or by words, and add it to working memory.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { HtmError, type models } from "htm-memory";
import { Problem, count } from "../../components/basics";
import { Snippet } from "../../components/snippet";
import { Link } from "../../router";
import { htm, useAnswer } from "../../server";
import type { Acts } from "./acts";
import { pushedOut } from "./eviction";
import { toMemory } from "./places";

const REST_MS = 250;
const HITS = 8;

interface Properties {
  namespace: string | undefined;
  working: models.Working;
  acts: Acts;
}

interface Candidate {
  memory: models.Node;
  snippet: string | undefined;
}

export function AddMemory({ namespace, working, acts }: Properties): JSX.Element {
  const [typed, setTyped] = useState("");
  const [text, setText] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setText(typed.trim()), REST_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const answer = useAnswer((signal) => candidates(text, namespace, signal), [text, namespace]);
  const found = text ? (answer.value ?? []) : [];
  const isAnswered = text !== "" && !answer.isLoading && !answer.error;
  return (
    <section class="stack close" aria-label="Add a memory">
      <label class="field add-field">
        <span>Add a memory: its number, or words that it is found by</span>
        <input class="input" type="search" value={typed} autocomplete="off" onInput={(event) => setTyped(event.currentTarget.value)} />
      </label>
      {answer.error && <Problem error={answer.error} asked={answer} />}
      <p class="small muted" role="status">
        {isAnswered && (found.length === 0 ? "No memory is found by this." : `${count(found.length, "memory", "memories")} found`)}
      </p>
      {found.length > 0 && (
        <ul class="candidates" aria-busy={answer.isLoading}>
          {found.map((candidate) => (
            <Found key={candidate.memory.id} candidate={candidate} working={working} acts={acts} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** The memory with the number, then those that a search finds. The search names no robot and counts as no use. */
async function candidates(text: string, namespace: string | undefined, signal: AbortSignal): Promise<Candidate[]> {
  if (!text) return [];
  const id = /^#?(\d+)$/.exec(text)?.[1];
  const filter = namespace === undefined ? {} : { namespaces: [namespace] };
  const [numbered, recalled] = await Promise.all([
    id === undefined ? undefined : byNumber(Number(id), signal),
    htm.recall.recall({ query: text, filter, limit: HITS, snippets: true, count_accesses: false }, { signal }),
  ]);
  const others = recalled.hits.filter(({ id }) => id !== numbered?.id);
  const hits = others.map((hit) => ({ memory: hit, snippet: hit.snippet ?? undefined }));
  return [...(numbered ? [{ memory: numbered, snippet: undefined }] : []), ...hits];
}

async function byNumber(id: number, signal: AbortSignal): Promise<models.Node | undefined> {
  if (!Number.isSafeInteger(id)) return undefined;
  try {
    return await htm.memories.get(id, {}, { signal });
  } catch (failure) {
    if (failure instanceof HtmError && failure.code === "node_not_found") return undefined;
    throw failure;
  }
}

interface FoundProperties {
  candidate: Candidate;
  working: models.Working;
  acts: Acts;
}

function Found({ candidate: { memory, snippet }, working, acts }: FoundProperties): JSX.Element {
  const { id, content, token_count: tokens, importance } = memory;
  const isIn = working.nodes.some(({ node }) => node === id);
  const isTooBig = tokens > working.stats.max_tokens;
  const out = isIn || isTooBig ? [] : pushedOut(working, tokens);
  return (
    <li>
      <div class="stack close">
        <Snippet html={snippet} text={content} />
        <p class="small muted">
          <Link to={toMemory(id)}>Memory {id}</Link> · {count(tokens, "token")} · importance {importance}
          {isTooBig && <strong class="state-warn"> · larger than the whole budget</strong>}
          {out.length > 0 && (
            <strong class="state-warn">
              {" "}
              · {out.length > 3 ? count(out.length, "memory", "memories") : out.map(({ node }) => `#${node}`).join(", ")} would leave for it
            </strong>
          )}
        </p>
      </div>
      {isIn ? (
        <span class="chip">in working memory</span>
      ) : (
        <button type="button" class="button" disabled={acts.isActing || isTooBig} onClick={() => void acts.add(id)}>
          Add <span class="hidden-label">memory {id}</span>
        </button>
      )}
    </li>
  );
}
