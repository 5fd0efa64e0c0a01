// The numbers of the chart as a table.

import type { JSX } from "preact";
import { number } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import type { Counts } from "./ask";
import { stepText } from "./labels";
import type { Series } from "./series";

export function Numbers({ title, counts, series }: { title: string; counts: Counts; series: readonly Series[] }): JSX.Element {
  const { steps, totals, by } = counts;
  const known = totals.map((total, index) => ({ total, index })).filter(({ total }) => total > 0);
  return (
    <details class="small numbers">
      <summary>The numbers as a table</summary>
      <TableBox label={title}>
        <caption class="hidden-label">{title}</caption>
        <Heads columns={["Time (UTC)", ...(by === "time" ? [] : series).map(({ name }) => ({ number: name })), { number: "Memories" }]} />
        <tbody>
          {known.map(({ total, index }) => (
            <tr key={index}>
              <th scope="row">{stepText(steps, index)}</th>
              {by !== "time" &&
                series.map(({ values, style }) => (
                  <td key={style} class="number">
                    {number(values[index] ?? 0)}
                  </td>
                ))}
              <td class="number">{number(total)}</td>
            </tr>
          ))}
        </tbody>
      </TableBox>
    </details>
  );
}
