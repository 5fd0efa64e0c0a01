// The times of a chart: local ones, which are named so.

export function clock(time: number | undefined): string {
  return time === undefined ? "" : new Date(time).toLocaleTimeString("en-GB");
}

/** The time zone at a time: "UTC", "UTC+2", "UTC−3:30". */
export function zone(time: number | undefined): string {
  const minutes = time === undefined ? 0 : -new Date(time).getTimezoneOffset();
  if (minutes === 0) return "UTC";
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? "−" : "+"}${hours}${rest > 0 ? `:${String(rest).padStart(2, "0")}` : ""}`;
}
