// Pages for what is no memory here, or not any more.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Empty } from "../../components/basics";
import { focusContent } from "../../components/focus";
import { useMay, useUser } from "../../components/sign-in";
import { attempt, say } from "../../components/toasts";
import { Link, address, useNamespace, usePlace } from "../../router";
import { useAnswer } from "../../server";
import { forget, restore } from "../../components/memory-acts";
import { EraseDialog } from "./erase";
import { When } from "./facts";
import { find, type Forgotten } from "./find";
import { beginning } from "./passage";
import { Receipt } from "./receipt";
import { useTitle } from "../../components/title";

export function NoNumber({ given }: { given: string }): JSX.Element {
  useTitle("No memory");
  return (
    <Empty>
      <div class="stack">
        <h1>No memory has such a number</h1>
        <p>
          Memories have whole numbers, such as 12. The address says <q class="stored">{beginning(given, 80)}</q>.
        </p>
        <ToSearch />
      </div>
    </Empty>
  );
}

interface Properties {
  id: number;
  reload: () => void;
}

/** What is shown when the server finds no memory of a number. */
export function Missing({ id, reload }: Properties): JSX.Element {
  const namespace = useNamespace();
  const erasure = usePlace().query.get("erased") ?? "";
  const mayErase = useMay("admin");
  const seesAll = useUser().namespaces === null;
  const answer = useAnswer(
    (signal) => find(id, { namespace, mayErase, seesAll }, signal),
    [id, namespace, mayErase, seesAll, erasure],
  );
  return (
    <>
      {answer.value === undefined && <h1 class="hidden-label">Memory {id}</h1>}
      <Awaited answer={answer}>
        {(found) => {
          if (found.kind === "forgotten") return <ForgottenPage id={id} found={found} reload={reload} />;
          const unknown = <Unknown id={id} isSure={found.kind === "unknown"} />;
          return /^\d+$/.test(erasure) ? (
            <Receipt memory={id} erasure={Number(erasure)} otherwise={unknown} />
          ) : (
            unknown
          );
        }}
      </Awaited>
    </>
  );
}

function Unknown({ id, isSure }: { id: number; isSure: boolean }): JSX.Element {
  useTitle(`No memory ${id}`);
  return (
    <Empty>
      <div class="stack">
        <h1>There is no memory {id}</h1>
        <p>
          {isSure
            ? "None was ever written under this number, or it has been erased: nothing is left of it to show."
            : "It may be forgotten, erased, or in a namespace that you do not see. An administrator can tell."}
        </p>
        <ToSearch />
      </div>
    </Empty>
  );
}

function ToSearch(): JSX.Element {
  return (
    <p>
      <Link to={address("/")}>Search the memories</Link>
    </p>
  );
}

const REASONS: Record<models.ForgetReason, string> = {
  asked: "Somebody asked for it",
  expired: "It had a time to live, which is over",
  retention: "It became older than its namespace keeps memories",
  unloaded: "Its document was unloaded",
};

function ForgottenPage({ id, found, reload }: Properties & { found: Forgotten }): JSX.Element {
  const [isActing, setActing] = useState(false);
  const mayWrite = useMay("writer");
  const mayErase = useMay("admin");
  const [isErasing, setErasing] = useState(false);
  const { namespace } = found;
  useTitle(`Memory ${id}, forgotten`);
  const bringBack = async (): Promise<void> => {
    setActing(true);
    const isDone = await attempt(() => restore(id, namespace));
    setActing(false);
    if (!isDone) return;
    focusContent();
    const undo = async (): Promise<void> => {
      await forget(id, namespace);
      reload();
    };
    say(`Memory ${id} is restored.`, undo, { about: `memory ${id}` });
    reload();
  };
  return (
    <div class="stack memory-view memory-narrow">
      <div>
        <p class="small muted">Memory {id}</p>
        <h1>This memory is forgotten</h1>
      </div>
      <p>No search finds it, and no robot reads it. It can be restored as it was.</p>
      <section class="card memory-facts" aria-label="The forgotten memory">
        <p class="small muted">Its text begins like this:</p>
        <p class="stored">{found.excerpt}</p>
        <dl>
          <div>
            <dt>Remembered by</dt>
            <dd class="stored">{found.robot}</dd>
          </div>
          {namespace !== undefined && (
            <div>
              <dt>Namespace</dt>
              <dd class="stored">{namespace}</dd>
            </div>
          )}
          {found.deletedAt && (
            <div>
              <dt>Forgotten</dt>
              <dd>
                <When at={found.deletedAt} />
              </dd>
            </div>
          )}
          {found.reason && (
            <div>
              <dt>Why</dt>
              <dd>{REASONS[found.reason]}</dd>
            </div>
          )}
        </dl>
      </section>
      <div class="row">
        {mayWrite && (
          <button type="button" class="button primary" disabled={isActing} onClick={bringBack}>
            Restore
          </button>
        )}
        {mayErase && (
          <button type="button" class="button danger" onClick={() => setErasing(true)}>
            Erase …
          </button>
        )}
      </div>
      {isErasing && <EraseDialog id={id} onClose={() => setErasing(false)} reload={reload} />}
    </div>
  );
}
