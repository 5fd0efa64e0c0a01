// What namespaces may spend at providers a day.

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Bar, Empty, ShowMore, count, duration, number } from "../../components/basics";
import { focusIfLost } from "../../components/focus";
import { Heads, TableBox } from "../../components/table-box";
import { attempt, say } from "../../components/toasts";
import { Link, address } from "../../router";
import { htm, useAnswer, usePolled } from "../../server";
import { BudgetDialog } from "./budget";
import { andReady } from "../../components/job-words";

const WATCHED_MS = 10_000;
const DAY_MS = 86_400_000;
// Namespaces may be many.
const SHOWN_AT_ONCE = 200;

export function Budgets(): JSX.Element {
  const budgets = useAnswer((signal) => htm.models.budgets({ signal }), []);
  const [changed, setChanged] = useState<models.Budget | "new">();
  const setButton = useRef<HTMLButtonElement>(null);
  usePolled(budgets, WATCHED_MS);
  return (
    <section class="stack" aria-label="Budgets of tokens">
      <div class="stack tight">
        <h2>Budgets of tokens</h2>
        <p class="small muted">
          What a namespace may spend a day at all providers together. What it has spent before the budget was set counts
          too. When all is spent, its jobs are parked until midnight UTC, in {duration(DAY_MS - (Date.now() % DAY_MS))}.
        </p>
      </div>
      <Awaited answer={budgets} isPolled>
        {(listed) =>
          listed.length === 0 ? (
            <Empty>
              <p>No namespace has a budget: each may spend any number of tokens.</p>
            </Empty>
          ) : (
            <BudgetTable budgets={listed} change={setChanged} reload={budgets.reload} heir={() => setButton.current} />
          )
        }
      </Awaited>
      <p>
        <button ref={setButton} type="button" class="button" onClick={() => setChanged("new")}>
          Set a budget …
        </button>
      </p>
      {changed && (
        <BudgetDialog
          budget={changed === "new" ? undefined : changed}
          known={budgets.value ?? []}
          onClose={() => setChanged(undefined)}
          reload={budgets.reload}
        />
      )}
    </section>
  );
}

interface TableProperties {
  budgets: readonly models.Budget[];
  change: (budget: models.Budget) => void;
  reload: () => void;
  /** What has the focus when a budget is removed. */
  heir: () => HTMLElement | null;
}

function BudgetTable({ budgets, change, reload, heir }: TableProperties): JSX.Element {
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  return (
    <>
      <TableBox label="Budgets of tokens">
        <Heads columns={["Namespace", "Spent today", "Parked jobs", { hidden: "Actions" }]} />
        <tbody>
          {budgets.slice(0, shown).map((budget) => (
            <Row key={budget.namespace} budget={budget} change={() => change(budget)} reload={reload} heir={heir} />
          ))}
        </tbody>
      </TableBox>
      {budgets.length > shown && (
        <ShowMore act={() => setShown(shown + SHOWN_AT_ONCE)} />
      )}
    </>
  );
}

interface RowProperties extends Pick<TableProperties, "reload" | "heir"> {
  budget: models.Budget;
  change: () => void;
}

function Row({ budget, change, reload, heir }: RowProperties): JSX.Element {
  const { namespace, tokens_per_day, tokens_used, parked } = budget;
  const isSpent = tokens_used >= tokens_per_day;
  const [isActing, setActing] = useState(false);
  const remove = async (): Promise<void> => {
    setActing(true);
    const undo = async (): Promise<void> => {
      await htm.models.setBudget({ namespace, tokens_per_day });
      reload();
    };
    const isDone = await attempt(async () => {
      const { jobs } = await htm.models.setBudget({ namespace, tokens_per_day: null });
      say(`${namespace} has no budget any more.${andReady(jobs, "parked")}`, undo, { about: `budget of ${namespace}` });
    });
    setActing(false);
    // The row with the button goes.
    if (isDone) heir()?.focus({ preventScroll: true });
    else focusIfLost(heir);
    reload();
  };
  return (
    <tr>
      <td class="stored model-name">{namespace}</td>
      <td class="spent">
        <Bar
          label={`${number(tokens_used)} of ${number(tokens_per_day)} tokens`}
          whole={tokens_per_day}
          parts={[{ name: "spent", value: tokens_used, series: isSpent ? 7 : 1 }]}
        />
        <span class="small">
          {number(tokens_used)} of {count(tokens_per_day, "token")}
          {isSpent && <strong class="state-bad"> · all spent</strong>}
        </span>
      </td>
      <td>
        {parked > 0 ? (
          <Link to={address("/console/pipeline/jobs", { state: "parked", namespace })}>{count(parked, "job")}</Link>
        ) : (
          <span class="muted">None</span>
        )}
      </td>
      <td>
        <div class="row job-acts">
          <button type="button" class="button" onClick={change}>
            Change … <span class="hidden-label">the budget of {namespace}</span>
          </button>
          <button type="button" class="button" disabled={isActing} onClick={() => void remove()}>
            Remove <span class="hidden-label">the budget of {namespace}</span>
          </button>
        </div>
      </td>
    </tr>
  );
}
