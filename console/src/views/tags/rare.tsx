// Tags that no or few memories have.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Empty, Problem, Time, count, number } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { Link, go, usePlace } from "../../router";
import { htm, useAnswer } from "../../server";
import { useHere } from "./here";
import { here, toTag } from "./places";
import type { Branch } from "./tree";

const SHOWN = 100;
const CHOICES = [0, 1, 2, 5] as const;

export function Rare(): JSX.Element {
  const { tree } = useHere();
  const { query } = usePlace();
  const most = CHOICES.find((it) => String(it) === query.get("most")) ?? 0;
  const rare = useMemo(() => [...tree.byPath.values()].filter(({ use }) => use.total <= most), [tree, most]);
  return (
    <section class="stack" aria-labelledby="rare-head">
      <div>
        <h2 id="rare-head">Rare tags</h2>
        <p class="muted">
          Tags that no or few memories have, with those below them. Merge them into others, or remove them.
        </p>
      </div>
      <label class="row">
        <span>Tags of</span>
        <select
          class="input"
          value={most}
          onChange={(event) =>
            go(here({ most: event.currentTarget.value === "0" ? "" : event.currentTarget.value }), { replace: true })
          }
        >
          {CHOICES.map((it) => (
            <option key={it} value={it}>
              {it === 0 ? "no memory" : `at most ${count(it, "memory", "memories")}`}
            </option>
          ))}
        </select>
      </label>
      {rare.length === 0 ? (
        <Empty>
          <p>{most === 0 ? "Every tag has a memory, or one below it has." : "No tag is that rare."}</p>
        </Empty>
      ) : (
        <RareTags rare={rare} most={most} />
      )}
    </section>
  );
}

/** Where the server would merge the tags. It compares all names, which takes a while: the list does not wait for it. */
function useTargets(most: number): {
  targets: ReadonlyMap<string, string>;
  isLoading: boolean;
  problem: JSX.Element | false;
} {
  const { namespace, version, ask } = useHere();
  const answer = useAnswer(
    async (signal) => {
      const orphans = ask ? await htm.tags.orphans({ namespace, max_memories: most }, { signal }) : [];
      return new Map(orphans.flatMap(({ tag, merge_into }) => (merge_into ? [[tag, merge_into] as const] : [])));
    },
    [namespace, version, most, ask === undefined],
  );
  const { value = new Map<string, string>(), error, isLoading } = answer;
  return { targets: value, isLoading, problem: error !== undefined && <Problem error={error} asked={answer} /> };
}

function RareTags({ rare, most }: { rare: readonly Branch[]; most: number }): JSX.Element {
  const { ask } = useHere();
  const { targets, isLoading, problem } = useTargets(most);
  const [from, setFrom] = useState(0);
  useEffect(() => setFrom(0), [most]);
  const start = from < rare.length ? from : 0;
  return (
    <>
      <p class="muted small" role="status">
        {count(rare.length, "tag")}
        {rare.length > SHOWN && `, ${number(start + 1)} to ${number(Math.min(rare.length, start + SHOWN))} are shown`}
        {isLoading && ". Looking for tags to merge them into …"}
      </p>
      {problem}
      <TableBox label="Rare tags">
        <Heads columns={["Tag", ask && "What to do", { number: "Memories" }, "There since"]} />
        <tbody>
          {rare.slice(start, start + SHOWN).map((branch) => (
            <Row key={branch.path} branch={branch} into={targets.get(branch.path)} />
          ))}
        </tbody>
      </TableBox>
      {rare.length > SHOWN && (
        <p class="row">
          <button type="button" class="button" disabled={start === 0} onClick={() => setFrom(start - SHOWN)}>
            Previous {SHOWN}
          </button>
          <button
            type="button"
            class="button"
            disabled={start + SHOWN >= rare.length}
            onClick={() => setFrom(start + SHOWN)}
          >
            Next {SHOWN}
          </button>
        </p>
      )}
    </>
  );
}

function Row({ branch: { path, use }, into }: { branch: Branch; into: string | undefined }): JSX.Element {
  const { ask } = useHere();
  return (
    <tr>
      <td>
        <Link class="stored" to={toTag(path)}>
          {path}
        </Link>
      </td>
      {ask && (
        <td>
          <div class="row">
            <button
              type="button"
              class="button small tag-small"
              onClick={() => ask({ act: "merge", from: [path], ...(into ? { into } : {}) })}
            >
              {into ? `Merge into ${into} …` : "Merge …"}
              <span class="hidden-label"> {path}</span>
            </button>
            <button type="button" class="button small tag-small" onClick={() => ask({ act: "remove", tag: path })}>
              Remove …<span class="hidden-label"> {path}</span>
            </button>
          </div>
        </td>
      )}
      <td class="number">{number(use.total)}</td>
      <td>
        <Time at={use.created_at} />
      </td>
    </tr>
  );
}
