// The details of an entry of the audit log, for people.

import type { JSX } from "preact";
import { duration, exactly, number } from "../../components/basics";

// As the server stores times. Its microseconds are for programs.
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const SECONDS = / seconds$/;

export function Details({ of }: { of: Record<string, unknown> }): JSX.Element {
  const told = Object.entries(of).filter(([, value]) => value !== null);
  if (told.length === 0) return <span class="muted">–</span>;
  return (
    <ul>
      {told.map(([key, value]) => {
        const name = nameOf(key);
        return (
          <li key={key}>
            <span class="muted">{name.replace(SECONDS, "")}:</span>{" "}
            {SECONDS.test(name) && typeof value === "number" ? duration(value * 1_000) : plain(value)}
          </li>
        );
      })}
    </ul>
  );
}

function nameOf(key: string): string {
  return key.replaceAll("_", " ");
}

function plain(value: unknown): string {
  if (value === null) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return number(value);
  if (typeof value === "string") return TIME.test(value) ? exactly(new Date(value)) : value;
  if (Array.isArray(value)) return value.map(plain).join(", ") || "none";
  return Object.entries(value as object)
    .map(([key, value]) => `${nameOf(key)} ${plain(value)}`)
    .join(", ");
}
