// The limits of calls to a model.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { models } from "htm-memory";
import { Confirm } from "../../components/dialog";
import { say } from "../../components/toasts";
import { htm } from "../../server";

type Numbers = Omit<models.Limits, "model">;

const FIELDS = [
  { name: "requests_per_minute", label: "Requests a minute" },
  { name: "tokens_per_minute", label: "Tokens a minute" },
  { name: "concurrent_calls", label: "Calls at once" },
] as const satisfies readonly { name: keyof Numbers; label: string }[];

interface Properties {
  /** None: it is asked for. */
  model: string | undefined;
  known: readonly models.Provider[];
  onClose: () => void;
  reload: () => void;
}

export function LimitsDialog({ model, known, onClose, reload }: Properties): JSX.Element {
  const [name, setName] = useState(model ?? "");
  const [typed, setTyped] = useState<Numbers>({});
  const of = name.trim();
  const before: Numbers = known.find(({ model }) => model === of) ?? {};
  const numbers = { ...before, ...typed };
  const changed = FIELDS.map(({ name }) => name).filter((name) => (numbers[name] ?? null) !== (before[name] ?? null));
  // A limit that is not sent stays, also one that somebody else has set meanwhile.
  const set = (limits: Numbers): Promise<unknown> =>
    htm.models.setLimits({ model: of, ...Object.fromEntries(changed.map((name) => [name, limits[name] ?? null])) });
  const act = async (): Promise<void> => {
    await set(numbers);
    say(`The limits of ${of} are changed.`, async () => {
      await set(before);
      reload();
    });
    reload();
  };
  return (
    <Confirm
      title={model ? `Limits of ${model}` : "Limit a model"}
      verb="Save"
      isReady={of !== "" && changed.length > 0}
      act={act}
      onClose={onClose}
    >
      {model === undefined && (
        <label class="field">
          <span>Model, as in openai/text-embedding-3-small</span>
          <input
            class="input mono"
            value={name}
            required
            autofocus
            autocomplete="off"
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
      )}
      <div class="columns fields">
        {FIELDS.map(({ name, label }) => (
          <label key={name} class="field">
            <span>{label}</span>
            <input
              class="input"
              type="number"
              min={1}
              max={2_147_483_647}
              step={1}
              placeholder="No limit"
              value={numbers[name] ?? ""}
              onInput={(event) =>
                setTyped({
                  ...typed,
                  [name]: event.currentTarget.value === "" ? null : Number(event.currentTarget.value),
                })
              }
            />
          </label>
        ))}
      </div>
      <p class="small muted">All workers together keep to them. An empty field is no limit.</p>
    </Confirm>
  );
}
