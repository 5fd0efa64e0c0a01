// A list of jobs, page by page, with what can be done to them.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Awaited, Empty, count } from "../../components/basics";
import { Link, address, go, usePlace } from "../../router";
import { htm, useAnswer } from "../../server";
import { useActed, type Done } from "./acted";
import { JobActions } from "./job-actions";
import { JobFilter, isNarrowed } from "./job-filter";
import { PAGE, addressOf, conditions, readQuery, type JobQuery } from "./job-query";
import { JobTable } from "./job-table";
import { jobsIn } from "../../components/job-words";

interface Properties {
  path: string;
  /** The state of all jobs of this list; none: it can be chosen. */
  state?: models.JobState;
  queues: readonly models.QueueStats[];
  /** What changed the jobs has changed the queues too. */
  onChange: () => void;
}

export function JobList({ path, state, queues, onChange }: Properties): JSX.Element {
  const query = readQuery(usePlace().query, state);
  const page = useAnswer(
    (signal) => htm.jobs.list({ ...conditions(query), cursor: query.cursor || null, limit: PAGE }, { signal }),
    [JSON.stringify(query)],
  );
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => setSelected(new Set()), [JSON.stringify(query)]);
  const set = (change: Partial<JobQuery>): void =>
    go(addressOf(path, { ...query, cursor: "", ...change }, state !== undefined));
  const { acted, note } = useActed(page.value);
  const reload = (): void => {
    setSelected(new Set());
    page.reload();
    onChange();
  };
  const changed = (ids: readonly string[], done: Done): void => {
    setSelected(new Set());
    note(ids, done);
    onChange();
  };
  const hasStates = state === undefined;
  const top = useTop(query.cursor);
  return (
    <>
      <JobFilter query={query} set={set} queues={queues} hasStates={hasStates} />
      <Awaited answer={page}>
        {({ jobs, next }) => (
          <div class="stack list" aria-busy={page.isLoading} tabIndex={-1} ref={top}>
            <JobActions jobs={jobs} query={query} selected={selected} acted={acted} changed={changed} reload={reload} />
            {jobs.length === 0 ? (
              <None
                query={query}
                hasStates={hasStates}
                firstPage={addressOf(path, { ...query, cursor: "" }, !hasStates)}
              />
            ) : (
              <JobTable
                jobs={jobs}
                hasStates={hasStates}
                selected={selected}
                setSelected={setSelected}
                acted={acted}
                changed={changed}
              />
            )}
            <Pages
              shown={jobs.length}
              query={query}
              next={next ?? undefined}
              to={(cursor) => addressOf(path, { ...query, cursor }, !hasStates)}
            />
          </div>
        )}
      </Awaited>
    </>
  );
}

/** The element where another page begins: it is shown and focused when the page changes. */
function useTop(cursor: string): { current: HTMLDivElement | null } {
  const element = useRef<HTMLDivElement>(null);
  const shown = useRef(cursor);
  useEffect(() => {
    if (shown.current === cursor) return;
    shown.current = cursor;
    element.current?.focus({ preventScroll: true });
    element.current?.scrollIntoView();
  }, [cursor]);
  return element;
}

function None({
  query,
  hasStates,
  firstPage,
}: {
  query: JobQuery;
  hasStates: boolean;
  firstPage: string;
}): JSX.Element {
  if (query.cursor) {
    return (
      <Empty>
        <p>
          Nothing is left on this page. <Link to={firstPage}>To the first page</Link>
        </p>
      </Empty>
    );
  }
  if (isNarrowed(query, hasStates))
    return <Empty>No {jobsIn(query.state, true)} match. Clear the filter to see all.</Empty>;
  return (
    <Empty>
      {query.state === "dead" ? (
        <p>No dead letters: no job has failed for good.</p>
      ) : (
        <p>
          Nothing is left to do.{" "}
          <Link to={address("/console/pipeline/jobs", { state: "done" })}>Show what was done of late</Link>
        </p>
      )}
    </Empty>
  );
}

interface PagesProperties {
  shown: number;
  query: JobQuery;
  next: string | undefined;
  to: (cursor: string) => string;
}

function Pages({ shown, query, next, to }: PagesProperties): JSX.Element | null {
  if (!query.cursor && !next) return null;
  return (
    <nav class="row" aria-label="Pages">
      {query.cursor && (
        <Link class="button" to={to("")}>
          First page
        </Link>
      )}
      {next && (
        <Link class="button" to={to(next)}>
          Next {PAGE}
        </Link>
      )}
      <span class="small muted">{count(shown, "job")} on this page; Back goes to the one before.</span>
    </nav>
  );
}
