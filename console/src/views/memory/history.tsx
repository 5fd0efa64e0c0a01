// The texts that a memory has had.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Time, number } from "../../components/basics";
import { useMay } from "../../components/sign-in";
import { attempt, say } from "../../components/toasts";
import { address, go, usePlace } from "../../router";
import { htm, useAnswer } from "../../server";
import { edit } from "../../components/memory-acts";
import { Differences } from "./differences";

const SHOWN = 20;

interface Properties {
  memory: models.Node;
  reload: () => void;
}

export function History({ memory, reload }: Properties): JSX.Element {
  return (
    <section class="card memory-history" aria-labelledby="history-title">
      <h2 id="history-title">History of the text</h2>
      {memory.revision === 1 ? (
        <p class="muted small">It is as it was first written. After an edit, its former texts are listed here.</p>
      ) : (
        <Revisions memory={memory} reload={reload} />
      )}
    </section>
  );
}

function Revisions({ memory, reload }: Properties): JSX.Element {
  const { path, query } = usePlace();
  const mayWrite = useMay("writer");
  const [shown, setShown] = useState(SHOWN);
  const answer = useAnswer((signal) => htm.memories.history(memory.id, { signal }), [memory.id, memory.revision]);
  const opened = Number(query.get("revision"));
  const open = (revision: number): void =>
    go(address(path, { revision: revision === opened ? null : revision }), { replace: true });
  return (
    <Awaited answer={answer}>
      {(revisions) => {
        const latest = [...revisions].reverse();
        // One that the address names is shown, however old it is.
        const most = Math.max(shown, latest.findIndex(({ revision }) => revision === opened) + 1);
        return (
          <>
            <ol class="memory-revisions">
              {latest.slice(0, most).map((revision, index) => (
                <Item
                  key={revision.revision}
                  revision={revision}
                  former={latest[index + 1]}
                  isOpen={revision.revision === opened}
                  toggle={() => open(revision.revision)}
                  use={
                    index === 0 || !mayWrite ? undefined : (
                      <UseAgain memory={memory} revision={revision} reload={reload} />
                    )
                  }
                />
              ))}
            </ol>
            {latest.length > most && (
              <p>
                <button type="button" class="button" onClick={() => setShown(most * 2)}>
                  Show more of {number(latest.length)} revisions
                </button>
              </p>
            )}
          </>
        );
      }}
    </Awaited>
  );
}

interface ItemProperties {
  revision: models.Revision;
  former: models.Revision | undefined;
  isOpen: boolean;
  toggle: () => void;
  use: JSX.Element | undefined;
}

function Item({ revision, former, isOpen, toggle, use }: ItemProperties): JSX.Element {
  return (
    <li>
      <details open={isOpen}>
        <summary
          onClick={(event) => {
            // The address decides which one is open.
            event.preventDefault();
            toggle();
          }}
        >
          Revision {number(revision.revision)}{" "}
          <span class="small muted">
            by {revision.author}, <Time at={revision.written_at} />
          </span>
        </summary>
        {isOpen && (
          <div class="stack memory-opened">
            {former ? (
              <Differences before={former.content} after={revision.content} />
            ) : (
              <p class="stored">{revision.content}</p>
            )}
            {use}
          </div>
        )}
      </details>
    </li>
  );
}

/** A button that makes a former text the text again. */
function UseAgain({ memory, revision, reload }: Properties & { revision: models.Revision }): JSX.Element {
  const [isActing, setActing] = useState(false);
  const act = async (): Promise<void> => {
    setActing(true);
    await attempt(async () => {
      const edited = await edit(memory, { content: revision.content }, memory.revision);
      if (edited.changed.length === 0) return say("The text is this one already.");
      say(`The text is that of revision ${revision.revision} again.`, async () => {
        await edit(memory, { content: memory.content }, edited.revision);
        reload();
      });
    });
    setActing(false);
    reload();
  };
  return (
    <p>
      <button type="button" class="button" disabled={isActing} onClick={act}>
        Use the text of revision {number(revision.revision)} again
      </button>
    </p>
  );
}
