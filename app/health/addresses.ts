import type { Registry } from "prom-client";
import type { AddressBook } from "../../actors/addresses/address_book.ts";
import type { AddressGuard } from "../../actors/addresses/address_guard.ts";
import { registerGauges, registerSingleGauges } from "./figures.ts";

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
  registerSingleGauges(registry, {
    addresses_held_back: [
      "1 while no deposit address is handed out, as the signer has another wallet or none was seen",
      () => guard.held === null ? 0 : 1,
    ],
    address_mismatches_total: [
      "Addresses of the database since the start that are not the wallet's own",
      () => guard.mismatches,
    ],
    address_lists_waiting: [
      "Lists of addresses that are being compared with the wallet, in turns by merchant",
      () => guard.lists.waiting,
    ],
    address_lists_oldest_seconds: ["Age of the oldest of them", () => guard.lists.oldestMs / 1_000],
  });
  registerGauges(
    registry,
    ["by"],
    () => [["merchant", guard.lists.refused], ["all", guard.lists.givenUp]],
    {
      address_lists_refused_total: [
        "Lists of addresses since the start that were answered 503: their merchant had enough " +
        "under way (merchant), or there was no room or no time for them (all)",
        (count) => count,
      ],
    },
  );
  registerGauges(registry, ["network"], () => book.figures, {
    addresses_waiting: ["Requests that wait for a fresh deposit address", ({ waiting }) => waiting],
    addresses_oldest_wait_seconds: [
      "Age of the oldest of them",
      ({ oldestMs }) => oldestMs / 1_000,
    ],
    addresses_refused_total: [
      "Requests for a fresh deposit address since the start that got none",
      ({ refused }) => refused,
    ],
  });
}
