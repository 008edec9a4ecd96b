import type { Registry } from "prom-client";
import type { AddressBook } from "../../actors/addresses/address_book.ts";
import type { AddressGuard } from "../../actors/addresses/address_guard.ts";
import { registerFigures, registerSingle } from "./figures.ts";

/** For how long a list that was given up is reported, milliseconds. */
const GIVEN_UP_MS = 60_000;

type Guard = Pick<AddressGuard, "held" | "mismatches" | "lists">;

/** Reasons that addresses are not handed out, or not all of them. */
export function addressReasons(
  { held, mismatches, lists }: Guard,
  book: Pick<AddressBook, "figures">,
): readonly string[] {
  const reasons = held === null ? [] : [`addresses are held back: ${held}`];
  if (mismatches > 0) {
    reasons.push(
      `the database gave ${mismatches} addresses since the start that are not the wallet's own (see the log)`,
    );
  }
  if (lists.givenUpMs !== null && lists.givenUpMs < GIVEN_UP_MS) {
    reasons.push("lists of addresses were given up, as too many are compared with the wallet");
  }
  for (const [network, { trouble }] of book.figures) {
    if (trouble !== null) reasons.push(`${network} addresses are not handed out: ${trouble}`);
  }
  return reasons;
}

/** Registers what the guard of addresses counts, and how fresh ones are handed out. */
export function registerAddressMetrics(
  registry: Registry,
  guard: Guard,
  book: Pick<AddressBook, "figures">,
): void {
  registerSingle(registry, {
    engine_addresses_held_back: () => guard.held === null ? 0 : 1,
    engine_address_mismatches_total: () => guard.mismatches,
    engine_address_lists_waiting: () => guard.lists.waiting,
    engine_address_lists_oldest_seconds: () => guard.lists.oldestMs / 1_000,
  });
  registerFigures(
    registry,
    () => [["merchant", guard.lists.refused], ["all", guard.lists.givenUp]],
    { engine_address_lists_refused_total: (count) => count },
  );
  registerFigures(registry, () => book.figures, {
    engine_addresses_waiting: ({ waiting }) => waiting,
    engine_addresses_oldest_wait_seconds: ({ oldestMs }) => oldestMs / 1_000,
    engine_addresses_refused_total: ({ refused }) => refused,
  });
}
