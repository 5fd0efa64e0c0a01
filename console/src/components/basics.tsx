// What all views are made of.

import { createContext, type ComponentChildren, type JSX } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { HtmError } from "htm-memory";
import { usePolled, type Answer, type Question } from "../server";
import { onTheWay } from "./on-the-way";
import "./basics.css";

const RETRIED_AFTER_MS = 5_000;
// Most answers come sooner, and nothing flickers.
const SLOW_MS = 300;

/** Whether the page already says, around the views, that the server cannot be reached. */
export const SaidUnreachable = createContext(false);

interface ProblemProperties {
  error: HtmError;
  /** What failed. While the server cannot be reached, it is asked again by itself. */
  asked?: Question;
}

/** An error: what was wrong, and what to do next. What the page says already is not said for each question. */
export function Problem({ error, asked }: ProblemProperties): JSX.Element | null {
  const said = onTheWay(error);
  usePolled(asked, said?.isPassing ? RETRIED_AFTER_MS : undefined);
  const isSaid = useContext(SaidUnreachable);
  if (asked && said?.isPassing && isSaid) return null;
  const { detail, hint } = said ?? error;
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{detail}</strong> <code class="muted">{error.code}</code>
      </p>
      {hint && <p class="small">{hint}</p>}
      {asked && (
        <p>
          <button type="button" class="button" onClick={asked.reload}>
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

/** Nothing is there yet. */
export function Waiting(): JSX.Element {
  return (
    <p class="waiting" role="status">
      Loading …
    </p>
  );
}

interface MoreProperties {
  act: () => void;
  isBusy?: boolean;
  /** What is shown so far. */
  children?: ComponentChildren;
}

/** The end of a list that is not shown whole. */
export function ShowMore({ act, isBusy = false, children }: MoreProperties): JSX.Element {
  return (
    <p class="row list-end">
      <button type="button" class="button" aria-disabled={isBusy} onClick={() => isBusy || act()}>
        Show more
      </button>
      {children && <span class="small muted">{children}</span>}
    </p>
  );
}

interface AwaitedProperties<T> {
  answer: Answer<T>;
  /** The same question is asked again and again: that it is being asked is nothing to show. */
  isPolled?: boolean;
  children: (value: T) => ComponentChildren;
}

/** An answer, or what stands in its place while it is awaited or when it failed. A former answer is dimmed. */
export function Awaited<T>({ answer, isPolled = false, children }: AwaitedProperties<T>): JSX.Element {
  const { value, error, isLoading } = answer;
  const isSlow = useSlow(isLoading && !isPolled);
  const isFormer = isSlow || error !== undefined;
  return (
    <>
      {error && <Problem error={error} asked={answer} />}
      {value !== undefined ? (
        <div class={`awaited ${isFormer ? "former" : ""}`} aria-busy={isSlow}>
          {children(value)}
        </div>
      ) : (
        isLoading && <Waiting />
      )}
    </>
  );
}

/** Whether something takes longer than a moment. */
function useSlow(isLoading: boolean): boolean {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    if (!isLoading) return undefined;
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [isLoading]);
  return isLoading && isSlow;
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

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

/** A time to the second, with the zone of the browser: the server may have another one. */
export function exactly(date: Date): string {
  return exact.format(date);
}

/** A time: how long ago it was, with the exact time when it is pointed at. */
export function Time({ at }: { at: string | null | undefined }): JSX.Element {
  if (!at) return <span class="muted">–</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={exactly(date)}>
      {ago(date)}
    </time>
  );
}

// Each with its seconds, and how many of it are one of the next.
const UNITS: readonly [Intl.RelativeTimeFormatUnit, number, number][] = [
  ["second", 1, 60],
  ["minute", 60, 60],
  ["hour", 3_600, 24],
  ["day", 86_400, 30],
  ["month", 2_629_800, 12],
];
const YEAR = 31_557_600;
// Numbers only: "yesterday" is a day of the calendar, and not so many hours.
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });

export function ago(date: Date): string {
  const seconds = (date.getTime() - Date.now()) / 1000;
  if (Math.abs(seconds) < 5) return "now";
  for (const [unit, length, most] of UNITS) {
    const value = Math.round(seconds / length);
    if (Math.abs(value) < most) return relative.format(value, unit);
  }
  return relative.format(Math.round(seconds / YEAR), "year");
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
