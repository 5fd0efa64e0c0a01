// The pipeline: what happens to memories after they are written. They are embedded and tagged by workers.

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { models } from "htm-memory";
import { Empty, number } from "../components/basics";
import { useUser } from "../components/sign-in";
import { Link, address } from "../router";
import { htm, useAnswer, type Answer, usePolled } from "../server";
import { DeadLetters } from "./pipeline/dead-letters";
import { record } from "./pipeline/history";
import { ShownJob } from "./pipeline/job";
import { Jobs } from "./pipeline/jobs";
import { Models } from "./pipeline/models";
import { Overview } from "./pipeline/overview";
import { Providers } from "./pipeline/providers";
import "./pipeline/pipeline.css";

const TABS = [
  { rest: "", name: "Overview" },
  { rest: "/dead-letters", name: "Dead letters" },
  { rest: "/jobs", name: "Jobs" },
  { rest: "/providers", name: "Providers" },
  { rest: "/models", name: "Models" },
] as const;

// These two watch the queues. The others show the number of dead letters only.
const WATCHING: ReadonlySet<string> = new Set(["", "/models"]);
const WATCHED_MS = 2_000;
const SEEN_MS = 10_000;

export function Pipeline({ rest }: { rest: string }): JSX.Element {
  const { role, namespaces } = useUser();
  if (role === "admin" && namespaces === null) return <Seen place={rest.replace(/\/$/, "")} />;
  return (
    <Empty>
      <h1>Pipeline</h1>
      <p>
        The pipeline works for all namespaces at once, and so only an admin of all namespaces sees it. You are signed in
        as a {role}
        {namespaces !== null && ` of ${namespaces.join(", ") || "no namespace"}`}.
      </p>
    </Empty>
  );
}

function Seen({ place }: { place: string }): JSX.Element {
  const queues = useAnswer((signal) => htm.jobs.queues({ signal }), []);
  usePolled(queues, WATCHING.has(place) ? WATCHED_MS : SEEN_MS);
  useEffect(() => queues.value && record(queues.value, queues.due - performance.now()), [queues.value]);
  return (
    <div class="stack pipeline">
      <h1>Pipeline</h1>
      <Tabs place={place} queues={queues.value} />
      <Part place={place} queues={queues} />
    </div>
  );
}

function Tabs({ place, queues }: { place: string; queues: readonly models.QueueStats[] | undefined }): JSX.Element {
  const dead = queues?.reduce((sum, queue) => sum + queue.dead, 0) ?? 0;
  return (
    <nav class="tabs" aria-label="Parts of the pipeline">
      {TABS.map(({ rest, name }) => (
        <Link
          key={rest}
          to={address(`/console/pipeline${rest}`)}
          aria-current={place === rest ? "page" : rest && place.startsWith(`${rest}/`) ? "true" : undefined}
        >
          {name}
          {rest === "/dead-letters" && dead > 0 && <span class="number badge">{number(dead)}</span>}
        </Link>
      ))}
    </nav>
  );
}

function Part({ place, queues }: { place: string; queues: Answer<models.QueueStats[]> }): JSX.Element {
  if (place === "") return <Overview queues={queues} />;
  if (place === "/dead-letters") return <DeadLetters queues={queues} />;
  if (place === "/jobs") return <Jobs queues={queues} />;
  if (place.startsWith("/jobs/")) return <ShownJob key={place} id={place.slice("/jobs/".length)} />;
  if (place === "/providers") return <Providers queues={queues} />;
  if (place === "/models") return <Models queues={queues} />;
  return (
    <Empty>
      <p>
        There is no such page. <Link to={address("/console/pipeline")}>To the overview</Link>
      </p>
    </Empty>
  );
}
