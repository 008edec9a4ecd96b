import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import { cutTo, formatAmount, subtract } from "../../ledger/money/amount.ts";
import { type Currency, tokenDecimals } from "../../ledger/money/pair.ts";
import { giveUpCold, queueCold } from "../../ledger/treasury/hot_wallet.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { newId } from "../runtime/ids.ts";
import type { ColdPolicy, HotLevels } from "./treasury_deps.ts";
import { type Funds, type HotWallet, readFunds } from "./funds.ts";

/**
 * Sends what the hot wallet need not hold to the cold wallet: above the ceiling of a currency the
 * surplus over its target, one transfer at a time. What is queued for payouts is never part of a
 * surplus, and a transfer that is not signed yet gives way to payouts that came after it.
 *
 * @param seen the funds as of this turn, to see whether there is anything to do
 * @returns whether the funds have changed by it
 * @throws {NotOurChain} when only nodes answer that may show money that has left
 * @throws {ChainUnavailable} when the chain cannot be read; nothing is planned then
 */
export async function planCold(
  sql: Sql,
  chain: HotWallet,
  policy: ColdPolicy,
  seen: Pick<Funds, "funds">,
): Promise<boolean> {
  let changed = false;
  for (const [currency, levels] of policy.levels) {
    const free = seen.funds.get(currency)?.free;
    if (free === undefined) continue;
    if (free < 0n) changed = await makeWay(sql, chain, currency) || changed;
    if (free > levels.ceiling) {
      changed = await sendSurplus(sql, chain, policy.address, currency, levels) || changed;
    }
  }
  return changed;
}

async function makeWay(sql: Sql, chain: HotWallet, currency: Currency): Promise<boolean> {
  const { network } = chain;
  const outgoingId = await giveUpCold(sql, network, currency);
  if (outgoingId === null) return false;
  logEvent("cold.given_up", {
    network,
    outgoingId,
  });
  return true;
}

async function sendSurplus(
  sql: Sql,
  chain: HotWallet,
  destination: string,
  currency: Currency,
  { ceiling, target }: HotLevels,
): Promise<boolean> {
  const { network } = chain;
  // before the scan has begun nothing tells a node that is behind from one that is not
  if (await readCursor(sql, network, "solid") === null) return false;
  const free = (await readFunds(sql, chain)).funds.get(currency)?.free;
  if (free === undefined || free <= ceiling) return false;
  const amount = cutTo(subtract(free, target), tokenDecimals(currency, network));
  const outgoingId = newId("out");
  if (!await queueCold(sql, { outgoingId, network, currency, amount, destination })) return false;
  logEvent("cold.queued", {
    network,
    amount: formatAmount(amount),
    currency,
    outgoingId,
  });
  return true;
}
