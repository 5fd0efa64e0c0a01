// What is known of a memory besides its text.

import type { ComponentChildren, JSX } from "preact";
import type { models } from "htm-memory";
import { ago, count, duration, exactly, number } from "../../components/basics";
import { Link, address } from "../../router";
import { MetadataTree } from "./metadata";

export function Facts({ memory }: { memory: models.Node }): JSX.Element {
  return (
    <section class="card memory-facts" aria-labelledby="facts-title">
      <h2 id="facts-title">Facts</h2>
      <dl>
        <Fact name="Namespace">
          <Link class="stored" to={address("/", { namespace: memory.namespace })}>
            {memory.namespace}
          </Link>
        </Fact>
        <Fact name="Remembered by">
          <span class="stored">{memory.robot}</span>
        </Fact>
        <Stored name="Said by" text={memory.speaker} />
        <Fact name="Conversation">
          {memory.session ? (
            <Link
              class="stored"
              to={address("/console/timeline", { namespace: memory.namespace, session: memory.session })}
            >
              {memory.session}
            </Link>
          ) : null}
        </Fact>
        <Fact name="Place in it">{typeof memory.seq === "number" && number(memory.seq)}</Fact>
        <Stored name="Type" text={memory.type} />
        <Stored name="Source" text={memory.source} />
        <Stored name="Key" text={memory.key} />
        <Fact name="Importance">
          {number(memory.importance)} <span class="muted">of 10</span>
        </Fact>
        <Fact name="Happened">
          <When at={memory.created_at} />
        </Fact>
        <Fact name="First remembered">
          <When at={memory.first_remembered} />
        </Fact>
        <Fact name="Last remembered">
          {memory.remember_count > 1 && (
            <>
              <When at={memory.last_remembered} />{" "}
              <span class="muted">({count(memory.remember_count, "time")} in all)</span>
            </>
          )}
        </Fact>
        <Fact name="Text written">
          <When at={memory.updated_at} />{" "}
          {memory.revision > 1 && <span class="muted">(revision {number(memory.revision)})</span>}
        </Fact>
        <Fact name="Expires">{memory.expires_at ? <Expiry memory={memory} at={memory.expires_at} /> : "never"}</Fact>
        <Fact name="Tokens">
          {number(memory.token_count)} <span class="muted">by {memory.token_encoding}</span>
        </Fact>
      </dl>
      <h3>Metadata</h3>
      <MetadataTree value={memory.metadata} />
    </section>
  );
}

/** A fact. What is not known is not shown. */
function Fact({ name, children }: { name: string; children: ComponentChildren }): JSX.Element | null {
  if (children === false || children === null || children === undefined) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Stored({ name, text }: { name: string; text: string | null | undefined }): JSX.Element {
  return <Fact name={name}>{text ? <span class="stored">{text}</span> : null}</Fact>;
}

/** A time as it is read, and how long ago that is. */
export function When({ at }: { at: string }): JSX.Element {
  const date = new Date(at);
  return (
    <time dateTime={at} title={date.toISOString()}>
      {exactly(date)} <span class="muted">({ago(date)})</span>
    </time>
  );
}

function Expiry({ memory, at }: { memory: models.Node; at: string }): JSX.Element {
  return (
    <>
      <When at={at} />
      {typeof memory.ttl_seconds === "number" && (
        <span class="muted"> — {duration(memory.ttl_seconds * 1000)} after it was last remembered</span>
      )}
    </>
  );
}
