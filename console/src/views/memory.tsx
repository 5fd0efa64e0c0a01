// A memory: its text, what is known of it, and what can be done with it.

import type { JSX } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { Awaited } from "../components/basics";
import { useMay, useUser } from "../components/sign-in";
import { address, go, usePlace } from "../router";
import { htm, useAnswer } from "../server";
import { Edit } from "./memory/edit";
import { Missing, NoNumber } from "./memory/missing";
import { Page } from "./memory/page";
import { useTitle } from "../components/title";
import "./memory/memory.css";

export function Memory({ rest }: { rest: string }): JSX.Element {
  const given = rest.slice(1);
  const id = idOf(given);
  // With its key, nothing of one memory is shown with another one.
  return id === undefined ? <NoNumber given={given} /> : <Numbered key={id} id={id} />;
}

function idOf(text: string): number | undefined {
  const id = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
}

function Numbered({ id }: { id: number }): JSX.Element {
  const { query } = usePlace();
  const answer = useAnswer((signal) => htm.memories.get(id, {}, { signal }), [id]);
  const mayWrite = useMay("writer");
  useTitle(`Memory ${id}`);
  useEffect(() => scrollTo(0, 0), []);
  useNamed(answer.value?.namespace);
  if (answer.error?.code === "node_not_found") return <Missing id={id} reload={answer.reload} />;
  return (
    <>
      {answer.value === undefined && <h1 class="hidden-label">Memory {id}</h1>}
      <Awaited answer={answer}>
        {(memory) =>
          mayWrite && query.get("edit") === "yes" ? (
            <Edit memory={memory} reload={answer.reload} />
          ) : (
            <Page memory={memory} reload={answer.reload} />
          )
        }
      </Awaited>
    </>
  );
}

/** Names the namespace of what is shown in the address: the frame shows it, and the links from here stay in it. */
function useNamed(namespace: string | undefined): void {
  const { path, query } = usePlace();
  const own = useUser().namespace;
  const named = query.get("namespace") ?? own;
  // At once: somebody may leave before the page is painted.
  useLayoutEffect(() => {
    if (namespace === undefined || namespace === named) return;
    go(address(path, { ...Object.fromEntries(query), namespace }), { replace: true });
  }, [namespace, named]);
}
