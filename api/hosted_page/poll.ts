import type { PageState } from "./page_state.ts";

/** How long after its time a page still looks for a late payment. */
const LOOKS_ON_MS = 60 * 60_000;

/** What an open page asks to see whether something changed. */
export type Poll = "status" | "page" | "none";

/**
 * What the page asks: the status while its time lasts, afterwards itself (the status is a 410 by
 * then), nothing once there is nothing to wait for. A tab that is left open does not ask for ever.
 *
 * @param overMs since the page's time was over, milliseconds; below zero while it lasts
 */
export function pollOf(state: PageState, overMs: number): Poll {
  if (overMs < 0) return state.kind === "completed" ? "none" : "status";
  if (state.kind === "received") return "page";
  return state.kind === "completed" || overMs > LOOKS_ON_MS ? "none" : "page";
}
