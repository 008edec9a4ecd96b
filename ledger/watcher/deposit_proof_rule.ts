/**
 * The amount above which a transfer needs a second node's proof, as all nodes go by it.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { type Amount, amountOf, formatAmount } from "../money/amount.ts";
import type { AnySql, Sql } from "../database/connect.ts";
import type { Network } from "../money/pair.ts";

/** Time for which a rule is kept after the last node that is configured so, seconds. */
const KEPT_S = 60;

/** Stores the rule as this node is configured when it starts; see {@linkcode renewDepositProofRule}. */
export async function setDepositProofRule(
  sql: Sql,
  network: Network,
  above: Amount | null,
): Promise<void> {
  if (above === null) {
    if (!await renewDepositProofRule(sql, network, null)) return;
    logEvent("deposit.proof_unset", { network, seconds: KEPT_S });
    return;
  }
  await sql`
    INSERT INTO hub.deposit_proof_rule (network, above)
    VALUES (${network}, ${formatAmount(above)}::text::numeric)
    ON CONFLICT (network) DO UPDATE SET above = excluded.above, kept_at = now()`;
}

/**
 * Keeps the rule while this node is configured so. Where it is not, the rule goes once no other node
 * keeps it: one that is started with another environment must not release what all others hold.
 *
 * @param above in any token; null: nothing needs a proof here
 * @returns true if there is a rule
 */
export async function renewDepositProofRule(
  sql: Sql,
  network: Network,
  above: Amount | null,
): Promise<boolean> {
  if (above === null) {
    await sql`
      DELETE FROM hub.deposit_proof_rule
      WHERE network = ${network} AND kept_at < now() - make_interval(secs => ${KEPT_S})`;
    return await readDepositProofRule(sql, network) !== null;
  }
  // as the newest start has it: nodes with different bounds do not write against each other
  await sql`
    INSERT INTO hub.deposit_proof_rule (network, above)
    VALUES (${network}, ${formatAmount(above)}::text::numeric)
    ON CONFLICT (network) DO UPDATE SET kept_at = now()`;
  return true;
}

/** The amount above which a transfer needs a proof; null: none needs one. */
export async function readDepositProofRule(sql: AnySql, network: Network): Promise<Amount | null> {
  const [row] = await sql<{ above: string }[]>`
    SELECT trim_scale(above)::text AS above FROM hub.deposit_proof_rule WHERE network = ${network}`;
  return row === undefined ? null : amountOf(row.above);
}
