// What all views are made of.

import type { ComponentChildren, JSX } from "preact";
import type { HtmError } from "htm-memory";
import type { Answer } from "../server";

/** An error: what was wrong, and what to do next. */
export function Problem({ error, retry }: { error: HtmError; retry?: () => void }): JSX.Element {
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{error.detail}</strong> <code class="muted">{error.code}</code>
      </p>
      {error.hint && <p class="small">{error.hint}</p>}
      {retry && (
        <p>
          <button type="button" class="button" onClick={retry}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}

/** Nothing is there, and why. */
export function Empty({ children }: { children: ComponentChildren }): JSX.Element {
  return <div class="empty">{children}</div>;
}

/** An answer, or what stands in its place while it is awaited or when it failed. */
export function Awaited<T>({ answer, children }: { answer: Answer<T>; children: (value: T) => ComponentChildren }): JSX.Element {
  const { value, error, isLoading, reload } = answer;
  return (
    <>
      {error && <Problem error={error} retry={reload} />}
      {value === undefined
        ? isLoading && (
            <p class="waiting" role="status">
              Loading …
            </p>
          )
        : children(value)}
    </>
  );
}

/** A part of a whole as a bar. */
export function Bar({ parts, whole, label }: { parts: readonly { value: number; series: number; name: string }[]; whole: number; label: string }): JSX.Element {
  const shown = parts.filter((part) => part.value > 0);
  return (
    <div class="bar" role="img" aria-label={label}>
      {shown.map(({ value, series, name }) => (
        <span
          key={name}
          class={`series-${series}`}
          title={`${name}: ${number(value)}`}
          style={{ width: `${whole > 0 ? Math.min(100, (100 * value) / whole) : 0}%` }}
        />
      ))}
    </div>
  );
}

/** A time: how long ago it was, with the exact time when it is pointed at. */
export function Time({ at }: { at: string | null | undefined }): JSX.Element {
  if (!at) return <span class="muted">–</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={date.toLocaleString()}>
      {ago(date)}
    </time>
  );
}

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

export function ago(date: Date): string {
  const seconds = (date.getTime() - Date.now()) / 1000;
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit);
  }
  return Math.abs(seconds) < 5 ? "now" : relative.format(Math.round(seconds), "second");
}

/** A duration in the largest fitting unit. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

const whole = new Intl.NumberFormat("en");
const fraction = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });

export function number(value: number): string {
  return (Number.isInteger(value) ? whole : fraction).format(value);
}

/** A number with its noun: "1 memory", "2 memories". */
export function count(value: number, noun: string, plural = `${noun}s`): string {
  return `${number(value)} ${value === 1 ? noun : plural}`;
}
