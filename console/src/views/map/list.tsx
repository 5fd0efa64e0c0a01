// The memories that are chosen on the map.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Empty, ShowMore, Time, count, number } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { Link, address } from "../../router";
import type { Query, Setter } from "./query";

const PAGE = 50;

export function List({ points, query, set }: { points: readonly models.MapPoint[]; query: Query; set: Setter }): JSX.Element {
  const [shown, setShown] = useState(PAGE);
  const isChosen = query.lasso.length > 0 || query.only !== undefined;
  useEffect(() => setShown(PAGE), [points.length, query.only]);
  return (
    <section class="stack" aria-labelledby="map-list">
      <div class="row list-head">
        <h2 id="map-list">{isChosen ? "Memories of the selection" : "Memories on the map"}</h2>
        <p class="small muted" role="status">
          {count(points.length, "memory", "memories")}, the latest first
        </p>
        {isChosen && (
          <button type="button" class="button" onClick={() => set({ lasso: [], only: undefined })}>
            List all
          </button>
        )}
      </div>
      {points.length === 0 ? (
        <Empty>
          <p>No memory is within the selection.</p>
        </Empty>
      ) : (
        <TableBox label="Memories of the map">
          <Heads columns={["Memory", "Text", "Topics", "Robot", "When"]} />
          <tbody>
            {points.slice(0, shown).map(({ node, excerpt, topics, robot, created_at }) => (
              <tr key={node}>
                <td class="number">
                  <Link to={address(`/console/memories/${node}`)}>{node}</Link>
                </td>
                <td class="excerpt stored">{excerpt}</td>
                <td class="stored name">{topics.length > 0 ? topics.join(", ") : <span class="muted">–</span>}</td>
                <td class="stored name">{robot}</td>
                <td class="when">
                  <Time at={created_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </TableBox>
      )}
      {points.length > shown && (
        <ShowMore act={() => setShown(shown + PAGE)}>
          {number(shown)} of {number(points.length)} are shown.
        </ShowMore>
      )}
    </section>
  );
}
