// A question, answered by two models.

import type { JSX, TargetedSubmitEvent } from "preact";
import type { models } from "htm-memory";
import { Empty, Problem, count } from "../../components/basics";
import { Link, address, go, useNamespace, usePlace } from "../../router";
import { htm, useAnswer } from "../../server";

const TOP = 10;

export function Compare({ models: known }: { models: readonly models.Model[] }): JSX.Element {
  const { query } = usePlace();
  const namespace = useNamespace();
  const labels = known.filter(({ state }) => state !== "retired").map(({ label }) => label);
  const [one, other] = [query.get("one") ?? labels[0] ?? "", query.get("other") ?? labels[1] ?? ""];
  const question = query.get("q") ?? "";
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const given = (name: string): string => String(data.get(name) ?? "").trim();
    go(address("/console/pipeline/models", { one: given("one"), other: given("other"), q: given("q") }));
  };
  return (
    <section class="stack" aria-label="Compare two models">
      <h2>Compare two models</h2>
      {labels.length < 2 ? (
        <p class="small muted">There is only one model in use. With a second one, a question can be asked of both.</p>
      ) : (
        <>
          <form class="row compare-form" onSubmit={submit} key={`${one} ${other} ${question}`}>
            <ModelField name="one" label="Model" labels={labels} value={one} />
            <ModelField name="other" label="Other model" labels={labels} value={other} />
            <label class="field question">
              <span>
                Question, in {namespace === undefined ? "the server's own namespace" : `namespace ${namespace}`}
              </span>
              <input class="input" type="search" name="q" defaultValue={question} required />
            </label>
            <button type="submit" class="button primary">
              Compare
            </button>
          </form>
          {question && <Compared one={one} other={other} question={question} namespace={namespace} />}
        </>
      )}
    </section>
  );
}

function ModelField({
  name,
  label,
  labels,
  value,
}: {
  name: string;
  label: string;
  labels: readonly string[];
  value: string;
}): JSX.Element {
  return (
    <label class="field">
      <span>{label}</span>
      <select class="input" name={name}>
        {labels.map((label) => (
          <option key={label} value={label} selected={label === value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

interface Asked {
  one: string;
  other: string;
  question: string;
  namespace: string | undefined;
}

function Compared({ one, other, question, namespace }: Asked): JSX.Element {
  const ask = (label: string) => (signal: AbortSignal) =>
    htm.recall.recall(
      {
        query: question,
        strategy: "vector",
        limit: TOP,
        models: [label],
        count_accesses: false,
        filter: { namespaces: namespace === undefined ? [] : [namespace] },
      },
      { signal },
    );
  const answers = [
    { label: one, answer: useAnswer(ask(one), [one, question, namespace]) },
    { label: other, answer: useAnswer(ask(other), [other, question, namespace]) },
  ];
  const ids = answers.map(({ answer }) => new Set(answer.value && foundBy(answer.value).map(({ id }) => id)));
  const shared = new Set([...(ids[0] ?? [])].filter((id) => ids[1]?.has(id)));
  const most = Math.max(...ids.map(({ size }) => size));
  return (
    <>
      <p role="status">
        {!answers.every(({ answer }) => answer.value && !answer.isLoading)
          ? "Asking …"
          : answers.some(({ answer }) => answer.value && !isAnswered(answer.value))
            ? "They cannot be compared: not both could answer."
            : most === 0
              ? "Neither finds a memory."
              : `Of the first ${count(most, "memory", "memories")}, both find ${shared.size}.`}
      </p>
      <div class="columns">
        {answers.map(({ label, answer }, index) => (
          <section key={index} class="card stack" aria-label={label}>
            <h3 class="stored">{label}</h3>
            {answer.error && <Problem error={answer.error} asked={answer} />}
            {answer.value && <Hits recalled={answer.value} shared={shared} />}
          </section>
        ))}
      </div>
    </>
  );
}

/** Whether the model has answered. If it cannot, the memories that have the words of the question are the answer. */
function isAnswered({ models }: models.Recalled): boolean {
  return models.length > 0;
}

function foundBy(recalled: models.Recalled): models.Hit[] {
  return isAnswered(recalled) ? recalled.hits : [];
}

function Hits({ recalled, shared }: { recalled: models.Recalled; shared: ReadonlySet<number> }): JSX.Element {
  return (
    <>
      {recalled.degraded.map(({ step, reason, hint }) => (
        <p key={step} class="notice warn small">
          It could not answer: {reason}. {hint}
        </p>
      ))}
      {isAnswered(recalled) && recalled.hits.length === 0 && <Empty>Nothing is found.</Empty>}
      <ol class="stack compared-hits">
        {foundBy(recalled).map(({ id, content, scores }, index) => (
          <li key={id}>
            <p class="row">
              <span class="muted">{index + 1}.</span>
              <Link to={address(`/console/memories/${id}`, { namespace: null })}>Memory {id}</Link>
              <span class="small muted">
                {typeof scores.similarity === "number" && `similarity ${scores.similarity.toFixed(2)}`}
              </span>
              {shared.has(id) && <span class="chip">in both</span>}
            </p>
            <p class="small stored clamped">{content.slice(0, 300)}</p>
          </li>
        ))}
      </ol>
    </>
  );
}
