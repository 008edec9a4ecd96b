import type { DepositRow, InboxKey } from "../../../ledger/rows.ts";
import type { Verdict } from "../decision.ts";
import { CLAIM, type Records, transferKey } from "../state.ts";

/**
 * The deposit booked by hand that has claimed a whole transaction. One that came to nothing claims
 * nothing any more: its transfers are credited as any other.
 */
export function claimOf(records: Records, { network, txid }: InboxKey): DepositRow | undefined {
  const claim = records.deposits.get(transferKey(network, txid, CLAIM));
  return claim?.status === "FAILED" || claim?.status === "CANCELLED" ? undefined : claim;
}

/** A transfer waits while nobody has decided on the deposit that claims it. */
export function heldByClaim(claim: DepositRow): Verdict<never> {
  return { kind: "held", reason: `claimed: by ${claim.id}, which is not decided` };
}
