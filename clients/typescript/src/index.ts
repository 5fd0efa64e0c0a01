/**
 * HTM: durable memory for LLM agents.
 *
 * @packageDocumentation
 */

export { Htm, type EventOptions, type ExportOptions, type HtmSettings } from "./client.js";
export type { Call, EditOptions, Options, WriteOptions } from "./calls.js";
export { HtmError, NoProblem, Unreachable, type Code } from "./errors.js";
export type { Event, Line, QueueDepth } from "./streams.js";
export type * as models from "./generated/models.js";
