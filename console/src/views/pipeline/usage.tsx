// The tokens that namespaces have spent, by day.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Bar, Empty, number } from "../../components/basics";
import { Heads, TableBox } from "../../components/table-box";
import { htm, useAnswer } from "../../server";

const PERIODS = [1, 7, 30] as const;
const SHOWN_AT_ONCE = 50;

const STAGES: Record<models.Stage, string> = { embed: "Embedding", tag: "Tagging" };

export function Usage(): JSX.Element {
  const [days, setDays] = useState<number>(7);
  const answer = useAnswer((signal) => htm.models.usage({ days }, { signal }), [days]);
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
            <Rows rows={rows} />
          )
        }
      </Awaited>
    </section>
  );
}

function Rows({ rows }: { rows: readonly models.TokenUsage[] }): JSX.Element {
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const most = Math.max(...rows.map(({ tokens }) => tokens));
  return (
    <>
      <TableBox label="Tokens by day">
        <Heads columns={["Day (UTC)", "Namespace", "For", "Model", { number: "Jobs" }, { number: "Tokens" }, { hidden: "Tokens as a bar" }]} />
        <tbody>
          {rows.slice(0, shown).map(({ day, namespace, stage, model, jobs, tokens }) => (
            <tr key={`${day} ${namespace} ${stage} ${model}`}>
              <td class="usage-day">{day}</td>
              <td class="stored model-name">{namespace}</td>
              <td>{STAGES[stage]}</td>
              <td>
                <code>{model}</code>
              </td>
              <td class="number">{number(jobs)}</td>
              <td class="number">{number(tokens)}</td>
              <td class="spent">
                <Bar label={`${number(tokens)} tokens`} whole={most} parts={[{ name: "tokens", value: tokens, series: 1 }]} />
              </td>
            </tr>
          ))}
        </tbody>
      </TableBox>
      {rows.length > shown && (
        <p>
          <button type="button" class="button" onClick={() => setShown(shown + SHOWN_AT_ONCE)}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}
