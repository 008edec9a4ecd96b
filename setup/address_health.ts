import { Gauge, type Registry } from "prom-client";
import type { AddressGuard } from "../actors/addresses/address_guard.ts";

/** Why addresses are not handed out, or not all of them. */
export function addressReasons(
  { held, mismatches }: Pick<AddressGuard, "held" | "mismatches">,
): readonly string[] {
  const reasons = held === null ? [] : [`addresses are held back: ${held}`];
  if (mismatches > 0) {
    reasons.push(
      `the database gave ${mismatches} addresses since the start that are not the wallet's own (see the log)`,
    );
  }
  return reasons;
}

/** Registers what the guard of addresses counts. */
export function registerAddressMetrics(
  registry: Registry,
  guard: Pick<AddressGuard, "held" | "mismatches">,
): void {
  new Gauge({
    name: "addresses_held_back",
    help:
      "1 while no deposit address is handed out, as the signer has another wallet or none was seen",
    registers: [registry],
    collect() {
      this.set(guard.held === null ? 0 : 1);
    },
  });
  new Gauge({
    name: "address_mismatches_total",
    help: "Addresses of the database since the start that are not the wallet's own",
    registers: [registry],
    collect() {
      this.set(guard.mismatches);
    },
  });
}
