// The receipt of an erasure.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, count, number } from "../../components/basics";
import { useFocusTaker } from "../../components/focus";
import { useMay } from "../../components/sign-in";
import { attempt } from "../../components/toasts";
import { Link, address } from "../../router";
import { htm, useAnswer, usePolled } from "../../server";
import { ErasedRows } from "./erased-rows";
import { When } from "./facts";
import { useTitle } from "../../components/title";

// The space of the rows is freed after the answer.
const WATCHED_MS = 2_000;

interface Properties {
  memory: number;
  /** The number of the receipt. */
  erasure: number;
  /** Is shown if there is no such receipt. */
  otherwise: JSX.Element;
}

export function Receipt({ memory, erasure: id, otherwise }: Properties): JSX.Element {
  useTitle(`Memory ${memory}, erased`);
  const answer = useAnswer((signal) => htm.erasures.get(id, { signal }), [id]);
  usePolled(answer, answer.value && !answer.value.vacuum ? WATCHED_MS : undefined);
  // The page with the button that had it is gone.
  const heading = useFocusTaker(id);
  if (answer.error?.code === "erasure_unknown") return otherwise;
  return (
    <div class="stack memory-view memory-narrow">
      <div>
        <p class="small muted">Memory {memory}</p>
        <h1 tabIndex={-1} ref={heading}>
          This memory is erased
        </h1>
      </div>
      <p>No table has it any more, and nobody can bring it back. This is the receipt.</p>
      <Awaited answer={answer} isPolled>
        {(erasure) => (
          <>
            <Facts erasure={erasure} reload={answer.reload} />
            <Traces id={erasure.id} />
          </>
        )}
      </Awaited>
      <p>
        <Link to={address("/")}>Search the memories</Link>
      </p>
    </div>
  );
}

function Facts({ erasure, reload }: { erasure: models.Erasure; reload: () => void }): JSX.Element {
  return (
    <section class="card memory-facts" aria-label="Receipt">
      <h2>Receipt {erasure.id}</h2>
      <dl>
        <div>
          <dt>Erased</dt>
          <dd>
            {count(erasure.erased, "memory", "memories")}
            {erasure.erased < erasure.memories && ` of ${number(erasure.memories)}`}
          </dd>
        </div>
        <div>
          <dt>Namespace</dt>
          <dd class="stored">{erasure.namespaces.join(", ") || "–"}</dd>
        </div>
        <div>
          <dt>Asked by</dt>
          <dd class="stored">{erasure.asked_by}</dd>
        </div>
        <div>
          <dt>Begun</dt>
          <dd>
            <When at={erasure.began_at} />
          </dd>
        </div>
        <div>
          <dt>Ended</dt>
          <dd>{erasure.ended_at ? <When at={erasure.ended_at} /> : <Resume id={erasure.id} reload={reload} />}</dd>
        </div>
        <div>
          <dt>Space freed</dt>
          <dd>
            {erasure.vacuum ? (
              <Freed vacuum={erasure.vacuum} />
            ) : (
              <span role="status">not yet, it follows by itself</span>
            )}
          </dd>
        </div>
      </dl>
      <ErasedRows removed={erasure.removed} />
    </section>
  );
}

function Resume({ id, reload }: { id: number; reload: () => void }): JSX.Element {
  const [isActing, setActing] = useState(false);
  const act = async (): Promise<void> => {
    setActing(true);
    await attempt(() => htm.erasures.resume(id));
    setActing(false);
    reload();
  };
  return (
    <span class="row">
      not yet
      <button type="button" class="button" disabled={isActing} onClick={act}>
        Go on with it
      </button>
    </span>
  );
}

function Freed({ vacuum }: { vacuum: models.Vacuumed }): JSX.Element {
  return (
    <>
      <When at={vacuum.at} />
      {vacuum.not_permitted.length > 0 && (
        <p class="small">PostgreSQL does it later for {vacuum.not_permitted.join(", ")}.</p>
      )}
      {(vacuum.older_transactions ?? 0) > 0 && (
        <p class="small">
          {count(vacuum.older_transactions ?? 0, "older transaction")} may still read the rows until their end.
        </p>
      )}
    </>
  );
}

/** A look into every table, on request. */
function Traces({ id }: { id: number }): JSX.Element | null {
  const [isActing, setActing] = useState(false);
  const [found, setFound] = useState<models.Verification>();
  const mayLook = useMay("admin");
  const look = async (): Promise<void> => {
    setActing(true);
    await attempt(async () => setFound(await htm.erasures.verify(id)));
    setActing(false);
  };
  if (!mayLook) return null;
  return (
    <div class="stack">
      <p>
        <button type="button" class="button" disabled={isActing} onClick={look}>
          Look for traces in every table
        </button>
      </p>
      <div role="status">{found && <Verified found={found} />}</div>
    </div>
  );
}

// The server says so of a table that came with another version, or from somebody else.
const UNKNOWN = "unknown to this program";

function Verified({ found: { is_clean, is_behind_checkpoint, places } }: { found: models.Verification }): JSX.Element {
  const traces = places.filter((place) => place.traces > 0).map(({ table, traces }) => `${table} (${number(traces)})`);
  const unknown = places.filter(({ holds }) => holds === UNKNOWN).map(({ table }) => table);
  return (
    <div class={`notice ${is_clean ? "" : "warn"}`}>
      {traces.length > 0 ? (
        <p>
          <strong>Traces are left</strong> in {traces.join(", ")}.
        </p>
      ) : (
        <p>
          <strong>No trace</strong> in {count(places.length - unknown.length, "table")}.
        </p>
      )}
      {unknown.length > 0 && <p>The server does not know what {unknown.join(", ")} may hold.</p>}
      {!is_clean && traces.length + unknown.length === 0 && <p>The erasure has not ended.</p>}
      {!is_behind_checkpoint && (
        <p>PostgreSQL’s log has the rows until its next checkpoint, usually some minutes after the erasure.</p>
      )}
    </div>
  );
}
