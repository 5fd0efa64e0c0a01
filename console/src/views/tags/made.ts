// What follows a change.

import { useRef } from "preact/hooks";
import type { models } from "htm-memory";
import { attempt, say } from "../../components/toasts";
import { go } from "../../router";
import { hasEffect, said, send, wentTo, type Request } from "./changes";
import { here } from "./places";

/** Says what was done, with a way back; the chosen tag is where it is now, and everything is read again. */
export function useMade(
  namespace: string | undefined,
  reload: () => void,
): (request: Request, changed: models.Changed) => void {
  const rounds = useRef<ReturnType<typeof setTimeout>[]>([]);
  const follow = (changed: models.Changed, to: string | undefined): void => {
    if (chosenNow() !== to) go(here({ tag: to }), { replace: true });
    reload();
    // Workers tag in the background, and nothing tells when they are done.
    rounds.current.forEach(clearTimeout);
    rounds.current = changed.jobs > 0 ? [2, 5, 10, 20, 40].map((seconds) => setTimeout(reload, seconds * 1_000)) : [];
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
  return new URLSearchParams(location.search).get("tag") || undefined;
}

function isBrowsing(): boolean {
  return !new URLSearchParams(location.search).has("part");
}
