import type { AnySql } from "../database/connect.ts";
import type { UndecidedSpend } from "./verdicts.ts";

/** A withdrawal that is not paid yet, and that an unknown transfer may have paid. */
export interface Candidate {
  readonly withdrawalId: string;
  readonly merchantId: string;
  readonly referenceId: string | null;
  /**
   * `queued`: it can be matched; `signed`: bytes of it may still come to a block, and when they have
   * expired it is queued; `approval`: an administrator has to let it go first.
   */
  readonly state: "queued" | "signed" | "approval";
  /** Block time until which signed bytes may come to a block; null: none are known. */
  readonly expiresAt: Date | null;
}

/** The most that are named beside one transfer. */
const MOST = 5;

/** The withdrawals that would be paid beside the unknown transfers of a transaction, oldest first. */
export async function findCandidates(
  sql: AnySql,
  { network, txid }: Pick<UndecidedSpend, "network" | "txid">,
): Promise<readonly Candidate[]> {
  return await sql<Candidate[]>`
    SELECT DISTINCT withdrawal_id AS "withdrawalId", merchant_id AS "merchantId", reference_id AS "referenceId",
      state, expires_at AS "expiresAt"
    FROM hub.spend_candidate WHERE network = ${network} AND txid = ${txid}
    ORDER BY withdrawal_id LIMIT ${MOST}`;
}

/** Map key of a transfer. */
export function spendKey(
  { network, txid, logIndex }: Pick<UndecidedSpend, "network" | "txid" | "logIndex">,
): string {
  return `${network}/${txid}/${logIndex}`;
}

/** The candidates of all undecided transfers by {@linkcode spendKey}, oldest first. */
export async function listCandidates(
  sql: AnySql,
): Promise<ReadonlyMap<string, readonly Candidate[]>> {
  const rows = await sql<
    (Candidate & Pick<UndecidedSpend, "network" | "txid" | "logIndex">)[]
  >`
    SELECT network, txid, log_index AS "logIndex", withdrawal_id AS "withdrawalId", merchant_id AS "merchantId",
      reference_id AS "referenceId", state, expires_at AS "expiresAt"
    FROM (
      SELECT c.*, row_number() OVER (PARTITION BY network, txid, log_index ORDER BY withdrawal_id) AS place
      FROM hub.spend_candidate c) ranked
    WHERE place <= ${MOST} ORDER BY place`;
  const listed = new Map<string, Candidate[]>();
  for (const { network, txid, logIndex, ...candidate } of rows) {
    const key = spendKey({ network, txid, logIndex });
    const known = listed.get(key);
    if (known === undefined) listed.set(key, [candidate]);
    else known.push(candidate);
  }
  return listed;
}
