// Who gives the tags of a memory: people, or a tagger and how sure it is.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, count } from "../../components/basics";
import { TableBox } from "../../components/table-box";
import { htm, useAnswer } from "../../server";

// Each tag is asked for.
const MOST = 30;

const NAMES: Record<models.TagOrigin, string> = {
  manual: "people or robots",
  llm: "a language model",
  local: "the local tagger",
  rule: "a rule",
};

/** Asked for when it is opened. */
export function Origins({ memory }: { memory: models.Node }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Where these tags come from</summary>
      {isOpen && <Table memory={memory} />}
    </details>
  );
}

function Table({ memory: { tags, namespace } }: { memory: models.Node }): JSX.Element {
  const asked = tags.slice(0, MOST);
  const answer = useAnswer(
    (signal) => Promise.all(asked.map((tag) => htm.tags.get(tag, { namespace }, { signal }))),
    [namespace, asked.join(" ")],
  );
  return (
    <Awaited answer={answer}>
      {(found) => (
        <div class="stack">
          <p class="small muted">
            The server tells this for each tag, of all memories that have it, and not of this memory alone. If a tag has
            one origin, it is the one here.
          </p>
          <div class="memory-table small">
            <TableBox label="Origins of the tags">
              <thead>
                <tr>
                  <th scope="col">Tag</th>
                  <th scope="col">Given by</th>
                </tr>
              </thead>
              <tbody>
                {found.map(({ tag, origins, description }) => (
                  <tr key={tag}>
                    <td>
                      <span class="stored">{tag}</span>
                      {description && <p class="muted stored">{description}</p>}
                    </td>
                    <td>
                      <ul>
                        {origins.map((origin) => (
                          <li key={`${origin.origin} ${origin.model} ${origin.prompt_version}`}>
                            <Origin origin={origin} />
                          </li>
                        ))}
                      </ul>
                    </td>
                  </tr>
                ))}
              </tbody>
            </TableBox>
          </div>
          {tags.length > MOST && (
            <p class="small muted">
              The first {MOST} of {count(tags.length, "tag")}.
            </p>
          )}
        </div>
      )}
    </Awaited>
  );
}

function Origin({ origin: { origin, model, nodes, mean_confidence } }: { origin: models.OriginCount }): JSX.Element {
  return (
    <>
      {NAMES[origin]} {model && <code>{model}</code>}{" "}
      <span class="muted">
        on {count(nodes, "memory", "memories")}
        {typeof mean_confidence === "number" && `, ${Math.round(mean_confidence * 100)} % sure on average`}
      </span>
    </>
  );
}
