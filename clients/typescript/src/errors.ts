// Errors of the server, and of the way to it.

import type { ServerCode } from "./generated/codes.js";

/**
 * The code of an error. The compiler knows the codes of this version, and refuses misspelt ones. The code of a newer
 * server is compared as text: `(error.code as string) === "its_code"`.
 */
export type Code = ServerCode | "unreachable" | "no_problem" | NewerCode;

// It stands for the codes of newer servers. If it were any text, no misspelt code would be found.
type NewerCode = `${string}?`;

/** What an error has besides its code and its detail. */
export interface Circumstances {
  hint?: string;
  status?: number;
  values?: Readonly<Record<string, string>>;
  requestId?: string;
  retryAfter?: number;
  cause?: unknown;
}

/** An error of the server, or of the way to it. */
export class HtmError extends Error {
  override readonly name: string = "HtmError";
  /** The stable code, such as `key_taken`. */
  readonly code: Code;
  /** What was wrong, with its value. */
  readonly detail: string;
  /** The next step. */
  readonly hint: string;
  /** The HTTP status; undefined if no answer came. */
  readonly status: number | undefined;
  /** Values of the detail, such as the memory that has a key. */
  readonly values: Readonly<Record<string, string>>;
  /** The id of the request in the server's log. */
  readonly requestId: string | undefined;
  /** The seconds after which the server wants to be asked again. */
  readonly retryAfter: number | undefined;

  constructor(code: string, detail: string, circumstances: Circumstances = {}) {
    const { hint = "", status, values = {}, requestId, retryAfter, cause } = circumstances;
    super(hint ? `${detail} (${code}); ${hint}` : `${detail} (${code})`, cause === undefined ? {} : { cause });
    this.code = code as Code;
    this.detail = detail;
    this.hint = hint;
    this.status = status;
    this.values = values;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** No server answers at the address, or its answer broke off. */
export class Unreachable extends HtmError {
  override readonly name = "Unreachable";

  constructor(detail: string, cause?: unknown) {
    super("unreachable", detail, { hint: "start it with `htm up`, or correct the URL", cause });
  }
}

/** The answer is no answer of HTM: another program answers at the address. */
export class NoProblem extends HtmError {
  override readonly name = "NoProblem";

  constructor(detail: string, status?: number, retryAfter?: number) {
    super("no_problem", detail, { hint: "correct the URL", status, retryAfter });
  }
}

/** The error of an answer that is no success: that of its problem (RFC 9457), if it has one. */
export function errorOf(response: Response, body: string): HtmError {
  const { status, headers } = response;
  const asked = headers.get("Retry-After") ?? "";
  const retryAfter = /^\d+$/.test(asked) ? Number(asked) : undefined;
  const problem = parsed(body);
  if (typeof problem?.code !== "string") {
    return new NoProblem(`the answer is ${status} without a problem of HTM`, status, retryAfter);
  }
  const { code, detail = "", hint, values } = problem;
  const requestId = headers.get("X-Request-Id") ?? undefined;
  return new HtmError(code, detail, { hint, status, values, requestId, retryAfter });
}

interface SomeProblem extends Circumstances {
  code?: string;
  detail?: string;
}

function parsed(body: string): SomeProblem | null {
  try {
    return JSON.parse(body) as SomeProblem | null;
  } catch {
    return null;
  }
}
