// Who has a memory: the robots that remembered it, and the working memories that it is in.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Time, count } from "../../components/basics";
import { Link, address } from "../../router";
import { htm, useAnswer } from "../../server";

const SHOWN = 20;

export function KeptBy({ memory }: { memory: models.Node }): JSX.Element {
  const answer = useAnswer(
    (signal) => htm.memories.keepers(memory.id, { signal }),
    [memory.id, memory.last_remembered],
  );
  return (
    <section class="card memory-keepers" aria-labelledby="keepers-title">
      <h2 id="keepers-title">Robots and working memories that have it</h2>
      <Awaited answer={answer}>
        {({ robots, groups }) => (
          <div class="stack">
            <List
              items={robots.map((keeper) => (
                <Robot key={`${keeper.namespace} ${keeper.robot}`} keeper={keeper} of={memory} />
              ))}
            />
            {groups.length > 0 && (
              <>
                <h3>Groups with it in their working memory</h3>
                <List
                  items={groups.map((group) => (
                    <Mind key={group} kind="group" name={group} namespace={memory.namespace} />
                  ))}
                />
              </>
            )}
            <p class="small muted">
              A working memory is what a robot, or a group of robots, has at hand for its next answer.
            </p>
          </div>
        )}
      </Awaited>
    </section>
  );
}

/** A link to the working memory of a robot or a group. */
function Mind({ kind, name, namespace }: { kind: "robot" | "group"; name: string; namespace: string }): JSX.Element {
  return (
    <Link class="stored" to={address("/console/working-memory", { namespace, [kind]: name })}>
      {name}
    </Link>
  );
}

function List({ items }: { items: JSX.Element[] }): JSX.Element {
  const [shown, setShown] = useState(SHOWN);
  return (
    <>
      <ul class="memory-lines">
        {items.slice(0, shown).map((item) => (
          <li key={item.key}>{item}</li>
        ))}
      </ul>
      {items.length > shown && (
        <p>
          <button type="button" class="button" onClick={() => setShown(shown * 4)}>
            Show more of {items.length}
          </button>
        </p>
      )}
    </>
  );
}

function Robot({ keeper, of }: { keeper: models.KeptBy; of: models.Node }): JSX.Element {
  const repeats = keeper.remember_count - (keeper.made ? 1 : 0);
  return (
    <>
      <Mind kind="robot" name={keeper.robot} namespace={keeper.namespace} />
      {keeper.namespace !== of.namespace && <span class="muted stored"> of {keeper.namespace}</span>}
      <ul class="small muted">
        {keeper.made && <li>remembered it first</li>}
        {repeats > 0 && (
          <li>
            remembered it {keeper.made && "again, "}
            {count(repeats, "time")}, last <Time at={keeper.last_repeat} />
          </li>
        )}
        <li>
          {keeper.in_working_memory ? "has it in its working memory now" : "does not have it in its working memory"}
        </li>
      </ul>
    </>
  );
}
