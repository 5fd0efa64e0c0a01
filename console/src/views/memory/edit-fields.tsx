// The fields of the form.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { models } from "htm-memory";
import { count } from "../../components/basics";
import { withLineEnds, type Draft, type Mistakes } from "./draft";
import { useProposed } from "./tags";

interface Properties {
  draft: Draft;
  memory: models.Node;
  mistakes: Mistakes;
  set: (change: Partial<Draft>) => void;
}

export function EditFields({ draft, memory, mistakes, set }: Properties): JSX.Element {
  const text = useRef<HTMLTextAreaElement>(null);
  useEffect(() => text.current?.focus({ preventScroll: true }), []);
  return (
    <>
      <Field name="content" label="Text" hint={count(draft.content.length, "character")} mistake={mistakes.content}>
        {(id) => (
          <textarea
            {...id}
            ref={text}
            class="input memory-textarea"
            dir={directionOf(draft.content)}
            value={draft.content}
            onInput={(event) => set({ content: withLineEnds(event.currentTarget.value, memory.content) })}
          />
        )}
      </Field>
      <div class="memory-fields">
        <Field
          name="importance"
          label="Importance"
          hint="1 to 10. 7 and more is for decisions."
          mistake={mistakes.importance}
        >
          {(id) => (
            <input
              {...id}
              class="input"
              type="number"
              min="1"
              max="10"
              step="any"
              value={draft.importance}
              onInput={(event) => set({ importance: event.currentTarget.value })}
            />
          )}
        </Field>
        <TextField
          name="type"
          label="Type"
          hint="Such as fact, decision, question."
          list="edit-types"
          draft={draft}
          set={set}
        />
        <TextField name="source" label="Source" hint="A file, a chat, a URL." draft={draft} set={set} />
        <TextField
          name="key"
          label="Key"
          hint="A name that no other memory of the namespace has."
          draft={draft}
          set={set}
        />
      </div>
      <datalist id="edit-types">
        {["fact", "decision", "question", "preference", "event"].map((kind) => (
          <option key={kind} value={kind} />
        ))}
      </datalist>
      <TagsField tags={draft.tags} namespace={memory.namespace} set={set} />
      <Field name="metadata" label="Metadata" hint="Anything else, as a JSON object." mistake={mistakes.metadata}>
        {(id) => (
          <textarea
            {...id}
            class="input mono"
            spellcheck={false}
            value={draft.metadata}
            onInput={(event) => set({ metadata: event.currentTarget.value })}
          />
        )}
      </Field>
    </>
  );
}

// Hebrew, Arabic and the other blocks of scripts from right to left.
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The direction of a text by its first letter. A browser that finds it takes seconds for a text of a MiB. */
function directionOf(text: string): "ltr" | "rtl" {
  const [letter = ""] = /\p{L}/u.exec(text) ?? [];
  return RIGHT_TO_LEFT.test(letter) ? "rtl" : "ltr";
}

interface Identified {
  id: string;
  "aria-describedby": string;
  "aria-invalid": boolean;
}

interface FieldProperties {
  name: keyof Draft;
  label: string;
  hint: string;
  mistake?: string | undefined;
  children: (id: Identified) => ComponentChildren;
}

function Field({ name, label, hint, mistake, children }: FieldProperties): JSX.Element {
  const id = `edit-${name}`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": `${id}-hint`, "aria-invalid": mistake !== undefined })}
      <p id={`${id}-hint`} class={`small ${mistake === undefined ? "muted" : "state-bad"}`}>
        {mistake === undefined ? hint : `✕ ${mistake}`}
      </p>
    </div>
  );
}

interface TextFieldProperties {
  name: "type" | "source" | "key";
  label: string;
  hint: string;
  list?: string;
  draft: Draft;
  set: Properties["set"];
}

function TextField({ name, label, hint, list, draft, set }: TextFieldProperties): JSX.Element {
  return (
    <Field name={name} label={label} hint={hint}>
      {(id) => (
        <input
          {...id}
          class="input"
          dir="auto"
          list={list}
          value={draft[name]}
          onInput={(event) => set({ [name]: event.currentTarget.value })}
        />
      )}
    </Field>
  );
}

/** Tags as they will be; the box adds one by Enter. */
function TagsField({
  tags,
  namespace,
  set,
}: {
  tags: string[];
  namespace: string;
  set: Properties["set"];
}): JSX.Element {
  const [text, setText] = useState("");
  const proposed = useProposed(text, namespace);
  const add = (): void => {
    if (text.trim()) set({ tags: [...new Set([...tags, text.trim()])] });
    setText("");
  };
  const remove = (tag: string): void => {
    set({ tags: tags.filter((other) => other !== tag) });
    document.getElementById("edit-tags")?.focus();
  };
  return (
    <Field name="tags" label="Tags" hint="Enter adds one. A tag can stand below another one: project:billing.">
      {(id) => (
        <>
          {tags.length > 0 && (
            <ul class="row memory-tags">
              {tags.map((tag) => (
                <li key={tag} class="chip">
                  {tag}
                  <button type="button" class="remove" aria-label={`Remove ${tag}`} onClick={() => remove(tag)}>
                    ×
                  </button>
                </li>
              ))}
            </ul>
          )}
          <input
            {...id}
            class="input"
            list="edit-proposed"
            maxLength={255}
            autocomplete="off"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onBlur={add}
            onKeyDown={(event) => {
              // An input method ends a word with Enter, and goes on.
              if (event.key !== "Enter" || event.isComposing) return;
              event.preventDefault();
              add();
            }}
          />
          <datalist id="edit-proposed">
            {proposed.map((tag) => (
              <option key={tag} value={tag} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
