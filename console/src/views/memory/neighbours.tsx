// What was said before and after a memory.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Time } from "../../components/basics";
import { Link, address } from "../../router";
import { htm, useAnswer } from "../../server";
import { firstWords } from "./passage";

const SHOWN = 3;
const MOST = 300;

export function Conversation({ memory }: { memory: models.Node }): JSX.Element {
  const [shown, setShown] = useState(SHOWN);
  const answer = useAnswer(
    (signal) => htm.memories.neighbours(memory.id, { before: shown, after: shown }, { signal }),
    [memory.id, shown],
  );
  const { session } = memory;
  return (
    <section class="card" aria-labelledby="beside-title">
      <h2 id="beside-title">{session ? "Before and after in the conversation" : "Before and after in time"}</h2>
      {session && <p class="small muted stored memory-beside-of">{session}</p>}
      <Awaited answer={answer}>
        {({ before, after }) => (
          <>
            {before.length + after.length === 0 ? (
              <p class="muted small">
                {session ? "The conversation has no other memory." : "The namespace has no other memory."}
              </p>
            ) : (
              <ol class="memory-beside">
                {before.map((other) => (
                  <Other key={other.id} memory={other} />
                ))}
                <li class="memory-here" aria-current="true">
                  <Said memory={memory} /> <strong class="stored">{firstWords(memory.content, 120)}</strong>{" "}
                  <span class="muted small">(this memory)</span>
                </li>
                {after.map((other) => (
                  <Other key={other.id} memory={other} />
                ))}
              </ol>
            )}
            {Math.max(before.length, after.length) >= shown && shown < MOST && (
              <p>
                <button
                  type="button"
                  class="button"
                  onClick={() => setShown(Math.min(MOST, shown === SHOWN ? 20 : shown * 4))}
                >
                  Show more
                </button>
              </p>
            )}
          </>
        )}
      </Awaited>
    </section>
  );
}

function Other({ memory }: { memory: models.Node }): JSX.Element {
  return (
    <li>
      <Said memory={memory} />{" "}
      <Link class="stored" to={address(`/console/memories/${memory.id}`)}>
        {firstWords(memory.content, 120)}
      </Link>
    </li>
  );
}

function Said({ memory }: { memory: models.Node }): JSX.Element {
  return (
    <span class="small muted memory-said">
      {typeof memory.seq === "number" && <span class="memory-seq">{memory.seq}. </span>}
      <span class="stored">{memory.speaker ?? memory.robot}</span> · <Time at={memory.created_at} />
    </span>
  );
}
