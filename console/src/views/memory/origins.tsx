// Who gave this memory its tags: people, or a tagger and how sure it was.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Time } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { htm, useAnswer } from "../../server";

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

function Table({ memory: { id, tags } }: { memory: models.Node }): JSX.Element {
  const answer = useAnswer((signal) => htm.memories.tags(id, { signal }), [id, tags.join(" ")]);
  return (
    <Awaited answer={answer}>
      {(found) => (
        <div class="memory-table small">
          <TableBox label="Origins of the tags">
            <Heads columns={["Tag", "Given by", { number: "Confidence" }, "When"]} />
            <tbody>
              {found.map(({ tag, origin, model, prompt_version, confidence, assigned_at }) => (
                <tr key={tag}>
                  <td class="stored">{tag}</td>
                  <td>
                    {NAMES[origin]} {model && <code>{model}</code>}
                    {prompt_version && <span class="muted"> {prompt_version}</span>}
                  </td>
                  <td class="number">{typeof confidence === "number" ? `${Math.round(confidence * 100)} %` : "–"}</td>
                  <td>
                    <Time at={assigned_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </TableBox>
        </div>
      )}
    </Awaited>
  );
}
