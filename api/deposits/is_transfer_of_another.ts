import { askForRequest } from "../../chains/call_lane.ts";
import { findingsOf } from "../../actors/watcher/record_blocks.ts";
import { LOST_ACCOUNT } from "../../ledger/addresses/lost_account.ts";
import { findNamedTransaction } from "../../ledger/payouts.ts";
import type { ApiContext } from "../http/context.ts";

/**
 * Whether the transaction that a deposit by hand names paid an address of another merchant. Asked
 * before an operator confirms it, as the same money would be credited twice. Whether our own books
 * know it as another's is the account's question, asked when it decides: no node can forget that.
 *
 * @throws {ChainUnavailable} when its network cannot be read; then nothing is known
 */
export async function isTransferOfAnother(
  { sql, chains, askTimeoutMs }: Pick<ApiContext, "sql" | "chains" | "askTimeoutMs">,
  merchantId: string,
  depositId: string,
): Promise<boolean> {
  const named = await findNamedTransaction(sql, merchantId, depositId);
  if (named === null) return false;
  const { network, txid } = named;
  const signal = AbortSignal.timeout(askTimeoutMs);
  const chain = chains.get(network);
  if (chain === undefined) return false;
  const found = await askForRequest(() => chain.transaction(txid, "head", signal));
  if (found.kind !== "found") return false;
  const findings = await findingsOf(sql, { network, addressOf: chain.addressOf }, [
    found.transaction,
  ]);
  // what paid an address that a restore forgot is credited by hand: nobody else is
  return findings.some((finding) =>
    finding.merchantId !== merchantId && finding.merchantId !== LOST_ACCOUNT
  );
}
