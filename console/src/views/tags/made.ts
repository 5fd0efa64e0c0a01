// What follows a change.

import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { attempt, say } from "../../components/toasts";
import { go, queryNow } from "../../router";
import { usePolled, type Question } from "../../server";
import { hasEffect, said, send, wentTo, type Request } from "./changes";
import { PATH, here } from "./places";

// Workers tag in the background, and nothing tells when they are done: all is read again after each of these.
const PAUSES_MS = [2_000, 3_000, 5_000, 10_000, 20_000];

/** Says what was done, with a way back; the chosen tag is where it is now, and everything is read again. */
export function useMade(
  namespace: string | undefined,
  tags: Question,
  reload: () => void,
): (request: Request, changed: models.Changed) => void {
  const [round, setRound] = useState(PAUSES_MS.length);
  const next = (): void => {
    setRound(round + 1);
    reload();
  };
  usePolled({ ...tags, reload: next }, PAUSES_MS[round]);
  const follow = (changed: models.Changed, to: string | undefined): void => {
    // Whoever has gone to another view meanwhile stays there.
    if (location.pathname === PATH && chosenNow() !== to) go(here({ tag: to }), { replace: true });
    reload();
    setRound(changed.jobs > 0 ? 0 : PAUSES_MS.length);
  };
  return (request, changed) => {
    const before = chosenNow();
    const added = request.kind === "add" && isBrowsing() ? changed.added.at(-1) : undefined;
    const after = added ?? (before && wentTo(before, changed));
    follow(changed, after);
    const { change } = changed;
    if (!hasEffect(changed) || typeof change !== "number") {
      say("Nothing was to be changed");
      return;
    }
    say(said(request, changed), () =>
      attempt(async () => {
        const undoing: Request = { kind: "revert", fields: { id: change } };
        const undone = await send(undoing, namespace, false);
        const now = chosenNow();
        follow(undone, now === after ? before : now && wentTo(now, undone));
        say(`Undone: ${said(request, changed)}`);
      }),
    );
  };
}

function chosenNow(): string | undefined {
  return queryNow().get("tag") || undefined;
}

function isBrowsing(): boolean {
  return !queryNow().has("part");
}
