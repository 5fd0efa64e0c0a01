// The tokens that namespaces have spent, by day.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Bar, Empty, ShowMore, number } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { htm, useAnswer, usePolled } from "../../server";
import { sumsOf, type Sum } from "./usage-sums";

const PERIODS = [1, 7, 30] as const;
const SHOWN_AT_ONCE = 25;
// It reads what was done in all these days.
const WATCHED_MS = 60_000;

const STAGES: Record<models.Stage, string> = { embed: "Embedding", tag: "Tagging" };

export function Usage(): JSX.Element {
  const [days, setDays] = useState<number>(7);
  const answer = useAnswer((signal) => htm.models.usage({ days }, { signal }), [days]);
  usePolled(answer, WATCHED_MS);
  return (
    <section class="stack" aria-label="Tokens by day">
      <div class="stack tight">
        <h2>Tokens by day</h2>
        <p class="small muted">
          The tokens of the memories whose jobs were done, as budgets count them. Prompts and answers of a language model,
          failed calls and searches are not counted.
        </p>
      </div>
      <div class="row" role="group" aria-label="Days">
        {PERIODS.map((period) => (
          <button key={period} type="button" class="chip" aria-pressed={days === period} onClick={() => setDays(period)}>
            {period === 1 ? "Today" : `${period} days`}
          </button>
        ))}
      </div>
      <Awaited answer={answer}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>
              <p>No job was done in this time.</p>
            </Empty>
          ) : (
            <Sums sums={sumsOf(rows)} />
          )
        }
      </Awaited>
    </section>
  );
}

function Sums({ sums }: { sums: readonly Sum[] }): JSX.Element {
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const most = Math.max(...sums.map(({ tokens }) => tokens));
  return (
    <>
      <TableBox label="Tokens by day">
        <Heads columns={["Day (UTC)", "Namespace", "For", { number: "Jobs" }, { number: "Tokens" }, { hidden: "Tokens as a bar" }]} />
        {sums.slice(0, shown).map((sum) => (
          <Rows key={`${sum.day} ${sum.namespace}`} sum={sum} most={most} />
        ))}
      </TableBox>
      {sums.length > shown && (
        <ShowMore act={() => setShown(shown + SHOWN_AT_ONCE)} />
      )}
    </>
  );
}

/** The sum of a namespace on a day, and below it what it is made of. */
function Rows({ sum: { day, namespace, jobs, tokens, parts }, most }: { sum: Sum; most: number }): JSX.Element {
  const rows = parts.length + 1;
  return (
    <tbody class="usage">
      <tr>
        <td class="usage-day" rowSpan={rows}>
          {day}
        </td>
        <td class="stored model-name" rowSpan={rows}>
          {namespace}
        </td>
        <td>Everything</td>
        <td class="number">{number(jobs)}</td>
        <td class="number">
          <strong>{number(tokens)}</strong>
        </td>
        <td class="spent">
          <Bar label={`${number(tokens)} tokens`} whole={most} parts={[{ name: "tokens", value: tokens, series: 1 }]} />
        </td>
      </tr>
      {parts.map(({ stage, model, jobs, tokens }) => (
        <tr key={`${stage} ${model}`} class="usage-part small muted">
          <td>
            {STAGES[stage]} by <code>{model}</code>
          </td>
          <td class="number">{number(jobs)}</td>
          <td class="number">{number(tokens)}</td>
          <td />
        </tr>
      ))}
    </tbody>
  );
}
