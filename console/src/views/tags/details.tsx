// A tag: what it is for, who has it, and what can be done with it.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Problem, Time, count, number } from "../../components/basics";
import { Link, address, go } from "../../router";
import { htm, useAnswer, type Question } from "../../server";
import { useHere } from "./here";
import { TagMemories } from "./memories";
import { MenuButton } from "./menu";
import { toTag } from "./places";
import { SimilarTags, UsedTogether } from "./related";

export function TagDetails({ tag }: { tag: string }): JSX.Element {
  const { namespace, version, tree, ask } = useHere();
  const details = useAnswer((signal) => htm.tags.get(tag, { namespace }, { signal }), [tag, namespace, version]);
  const called = details.value?.tag;
  // A former or another name leads to the tag.
  useEffect(() => {
    if (called && called !== tag) go(toTag(called), { replace: true });
  }, [called]);
  const heading = useRef<HTMLHeadingElement>(null);
  // Where the tree is hidden because the window is narrow, the focus comes here.
  useEffect(() => {
    if (document.activeElement !== document.body) return;
    heading.current?.focus({ preventScroll: true });
    const body = heading.current?.closest(".tags-body");
    if (body && body.getBoundingClientRect().top < 0) body.scrollIntoView();
  }, []);
  if (details.error && !details.isLoading) return <NoTag tag={tag} error={details.error} asked={details} />;
  const use = details.value ?? tree.byPath.get(tag)?.use;
  return (
    <article class="card stack tag-details" aria-labelledby="tag-name">
      <div class="row">
        <h2 id="tag-name" class="stored mono" tabIndex={-1} ref={heading}>
          {tag}
        </h2>
      </div>
      {use?.description ? (
        <p class="stored">{use.description}</p>
      ) : (
        <p class="muted">No description yet: say what this tag is for, and the workers that give tags will use it.</p>
      )}
      <div class="row">
        <Link class="button primary" to={address("/", { tag })}>
          Search with this tag
        </Link>
        {ask && (
          <>
            <button type="button" class="button" onClick={() => ask({ act: "merge", from: [tag] })}>
              Merge into another tag …
            </button>
            <button type="button" class="button" onClick={() => ask({ act: "describe", tag })}>
              {use?.description ? "Change the description …" : "Describe …"}
            </button>
            <MenuButton tag={tag}>Rename, split, remove … ▾</MenuButton>
          </>
        )}
      </div>
      {use && <Facts use={use} />}
      <Awaited answer={details}>
        {(details) => (
          <>
            <Synonyms details={details} />
            <Origins origins={details.origins} />
          </>
        )}
      </Awaited>
      <div class="tag-columns">
        <TagMemories key={tag} tag={tag} total={use?.total} />
        <div class="stack">
          <UsedTogether tag={tag} />
          <SimilarTags tag={tag} />
        </div>
      </div>
    </article>
  );
}

function NoTag({
  tag,
  error,
  asked,
}: {
  tag: string;
  error: Parameters<typeof Problem>[0]["error"];
  asked: Question;
}): JSX.Element {
  if (error.code !== "tag_unknown") return <Problem error={error} asked={asked} />;
  return (
    <div class="card stack">
      <h2>There is no such tag</h2>
      <p class="stored">
        <code>{tag}</code> was removed, or it never was there. The history tells what was done.
      </p>
      <p class="row">
        <Link class="button" to={toTag(undefined)}>
          All tags
        </Link>
        <Link class="button" to={address("/console/tags", { part: "history" })}>
          History
        </Link>
      </p>
    </div>
  );
}

function Facts({ use }: { use: models.TagUse }): JSX.Element {
  return (
    <dl class="tag-facts">
      <Fact name="Memories with exactly this tag">{number(use.nodes)}</Fact>
      <Fact name="With it or a tag below it">{number(use.total)}</Fact>
      <Fact name="Last given">{use.last_used ? <Time at={use.last_used} /> : <span class="muted">never</span>}</Fact>
      <Fact name="There since">
        <Time at={use.created_at} />
      </Fact>
      {use.split_into.length > 0 && (
        <Fact name="Split into">
          <span class="row">
            {use.split_into.map((tag) => (
              <Link key={tag} class="chip" to={toTag(tag)}>
                {tag}
              </Link>
            ))}
          </span>
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt class="small muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Synonyms({ details: { tag, synonyms } }: { details: models.TagDetails }): JSX.Element {
  const { ask } = useHere();
  return (
    <section aria-label="Other names">
      <h3>Other names</h3>
      <div class="row">
        {synonyms.length === 0 && (
          <span class="muted small">None. Another name means this tag, in searches and on new memories.</span>
        )}
        {synonyms.map((name) => (
          <span key={name} class="chip">
            {name}
            {ask && (
              <button
                type="button"
                class="remove"
                aria-label={`Remove the name ${name}`}
                onClick={() => ask({ act: "remove_synonym", tag, name })}
              >
                ×
              </button>
            )}
          </span>
        ))}
        {ask && (
          <button type="button" class="button" onClick={() => ask({ act: "add_synonym", tag })}>
            Add another name …
          </button>
        )}
      </div>
    </section>
  );
}

const ORIGINS: Record<models.TagOrigin, string> = {
  manual: "by hand",
  llm: "by a language model",
  local: "by the local tagger",
  rule: "by a rule",
};

/** Who gave the tag. */
function Origins({ origins }: { origins: readonly models.OriginCount[] }): JSX.Element | null {
  if (origins.length === 0) return null;
  return (
    <p class="small muted">
      Given{" "}
      {origins
        .map(({ origin, model, nodes, mean_confidence }) => {
          const sure = typeof mean_confidence === "number" ? `, confidence ${mean_confidence.toFixed(2)}` : "";
          const detail = model || sure ? ` (${[model, sure.slice(2)].filter(Boolean).join(", ")})` : "";
          return `to ${count(nodes, "memory", "memories")} ${ORIGINS[origin]}${detail}`;
        })
        .join("; ")}
      .
    </p>
  );
}
