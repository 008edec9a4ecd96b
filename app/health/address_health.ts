import { Gauge, type Registry } from "prom-client";
import type { AddressBook, AddressFigures } from "../../actors/addresses/address_book.ts";
import type { AddressGuard } from "../../actors/addresses/address_guard.ts";

/** Time for which lists that were given up are told, milliseconds. */
const GIVEN_UP_MS = 60_000;

type Guard = Pick<AddressGuard, "held" | "mismatches" | "lists">;

/** Why addresses are not handed out, or not all of them. */
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
  const single = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  single(
    "addresses_held_back",
    "1 while no deposit address is handed out, as the signer has another wallet or none was seen",
    () => guard.held === null ? 0 : 1,
  );
  single(
    "address_mismatches_total",
    "Addresses of the database since the start that are not the wallet's own",
    () => guard.mismatches,
  );
  single(
    "address_lists_waiting",
    "Lists of addresses that are being compared with the wallet, in turns by merchant",
    () => guard.lists.waiting,
  );
  single(
    "address_lists_oldest_seconds",
    "Age of the oldest of them",
    () => guard.lists.oldestMs / 1_000,
  );
  new Gauge({
    name: "address_lists_refused_total",
    help: "Lists of addresses since the start that were answered 503: their merchant had enough " +
      "under way (merchant), or there was no room or no time for them (all)",
    labelNames: ["by"],
    registers: [registry],
    collect() {
      const { refused, givenUp } = guard.lists;
      this.set({ by: "merchant" }, refused);
      this.set({ by: "all" }, givenUp);
    },
  });
  const perNetwork = (name: string, help: string, read: (figures: AddressFigures) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ["network"],
      registers: [registry],
      collect() {
        for (const [network, figures] of book.figures) this.set({ network }, read(figures));
      },
    });
  perNetwork(
    "addresses_waiting",
    "Requests that wait for a fresh deposit address",
    ({ waiting }) => waiting,
  );
  perNetwork(
    "addresses_oldest_wait_seconds",
    "Age of the oldest of them",
    ({ oldestMs }) => oldestMs / 1_000,
  );
  perNetwork(
    "addresses_refused_total",
    "Requests for a fresh deposit address since the start that got none",
    ({ refused }) => refused,
  );
}
