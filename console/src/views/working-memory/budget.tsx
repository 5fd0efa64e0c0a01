// The budget of a robot's working memory.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { count, number } from "../../components/basics";
import { Confirm } from "../../components/dialog";
import { say } from "../../components/toasts";
import { htm } from "../../server";
import { leftBehind, sumOf } from "./eviction";
import type { Whose } from "./acts";

const MOST = 1_000_000_000;

interface Properties extends Whose {
  working: models.Working;
  /** Whether it has one of its own; else it is the server's default. */
  isOwn: boolean;
  onClose: () => void;
  changed: () => void;
}

export function BudgetDialog({ namespace, robot, working, isOwn, onClose, changed }: Properties): JSX.Element {
  const before = working.stats.max_tokens;
  const [text, setText] = useState(String(before));
  const tokens = Number(text);
  const isValid = Number.isInteger(tokens) && tokens >= 1 && tokens <= MOST;
  const set = async (max_tokens: number, back: number[]): Promise<void> => {
    await htm.robots.edit(robot, { namespace, max_tokens });
    if (back.length > 0) await htm.workingMemory.add(robot, { namespace, nodes: back });
    changed();
  };
  const act = async (): Promise<void> => {
    await set(tokens, []);
    const evicted = leftBehind(working, tokens).map(({ node }) => node);
    say(`The budget is ${count(tokens, "token")} now.`, () => set(before, evicted));
  };
  return (
    <Confirm title={`Budget of ${robot}`} verb="Set the budget" isReady={isValid && tokens !== before} act={act} onClose={onClose}>
      <label class="field">
        <span>Tokens, 1 to {number(MOST)}</span>
        <input
          class="input mind-number"
          type="number"
          inputMode="numeric"
          min={1}
          max={MOST}
          step={1}
          required
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {isValid && <Effect working={working} tokens={tokens} />}
      <p class="small muted">
        A program that works as this robot keeps the former budget until it opens the robot again.{" "}
        {!isOwn && "So far the robot has the server's default. Once it has a budget of its own, the default does not come back."}
      </p>
    </Confirm>
  );
}

function Effect({ working, tokens }: { working: models.Working; tokens: number }): JSX.Element {
  const out = leftBehind(working, tokens);
  if (out.length === 0) return <p class="small">Everything in working memory fits: {count(working.stats.tokens, "token")}.</p>;
  return (
    <p class="notice warn small">
      {count(out.length, "memory", "memories")} with {count(sumOf(out), "token")} would not fit any more, the least important first. They leave the
      working memory and are still remembered.
    </p>
  );
}
