import { NETWORKS } from "../../ledger/money/pair.ts";
import type { Given } from "./variables.ts";

/** Beginnings that only this service's variables have; no other program of a machine uses them. */
const OWN_PREFIXES = [
  ...NETWORKS.map((network) => `${network}_`),
  "API_DOCS",
  "CALLBACK_SECRETS_",
  "DEV_CHAIN",
  "DRAIN_",
  "FAILOVER_",
  "FOUR_EYES",
  "INGEST_",
  "KEEP_",
  "MAX_CONNECTIONS",
  "OPS_",
  "RECONCILE_",
  "SECOND_ADMINISTRATOR_",
  "SESSION_SECRET",
  "SIGNER_",
  "TRUSTED_PROXIES",
  "WALLET_",
];

/** Reports what looks like a setting and is none: a misspelt cap or bound would not be kept. */
export function unknownFaults(given: Given, known: readonly string[]): string[] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .filter((name) => OWN_PREFIXES.some((prefix) => name.startsWith(prefix)))
    .toSorted()
    .map((name) =>
      `${name} is no setting; did you mean ${nearest(name, known)}? (docs/configuration.md)`
    );
}

/** The name that shares the longest beginning with a misspelt one; of several the one of nearest length. TRON's word for a cap of fees is known. */
function nearest(name: string, known: readonly string[]): string {
  const meant = name.replace(/_FEE_LIMIT$/, "_FEE_CAP");
  if (known.includes(meant)) return meant;
  const shared = (other: string) => {
    let length = 0;
    while (length < name.length && name[length] === other[length]) length++;
    return length;
  };
  const apart = (other: string) => Math.abs(other.length - name.length);
  return known.toSorted((a, b) => shared(b) - shared(a) || apart(a) - apart(b))[0] ?? "";
}
