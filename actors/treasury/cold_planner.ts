import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import type { Chain } from "../../chains/chain.ts";
import { cutTo, formatAmount, subtract } from "../../ledger/amount.ts";
import { type Currency, tokenDecimals } from "../../ledger/pair.ts";
import { giveUpCold, queueCold } from "../../ledger/treasury/cold_transfers.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { newId } from "../runtime/ids.ts";
import type { ColdPolicy, HotLevels } from "./treasury_policy.ts";
import { type Funds, readFunds } from "./watch_funds.ts";

const log = getLogger(["engine", "treasury"]);

/** What is asked of a chain. */
type PlannedChain = Pick<
  Chain,
  "network" | "hotWallet" | "capabilities" | "balanceOf" | "solid"
>;

/**
 * Sends what the hot wallet need not hold to the cold wallet: above the ceiling of a currency the
 * surplus over its target, one transfer at a time. What is queued for payouts is never part of a
 * surplus, and a transfer that is not signed yet gives way to payouts that came after it.
 *
 * @param seen the funds as of this turn, to see whether there is anything to do
 * @returns whether the funds have changed by it
 * @throws {ChainUnavailable} when the chain cannot be read; nothing is planned then
 */
export async function planCold(
  sql: Sql,
  chain: PlannedChain,
  policy: ColdPolicy,
  seen: Funds,
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

async function makeWay(sql: Sql, chain: PlannedChain, currency: Currency): Promise<boolean> {
  const { network } = chain;
  const outgoingId = await giveUpCold(sql, network, currency);
  if (outgoingId === null) return false;
  log.warn("{network}: {outgoingId} to the cold wallet is given up, payouts need the money", {
    network,
    outgoingId,
  });
  return true;
}

async function sendSurplus(
  sql: Sql,
  chain: PlannedChain,
  destination: string,
  currency: Currency,
  { ceiling, target }: HotLevels,
): Promise<boolean> {
  const { network } = chain;
  // a node behind our own scan shows money that has left: nothing is planned on its word
  const cursor = await readCursor(sql, network, "solid");
  if (cursor === null || (await chain.solid()).height < cursor.height) return false;
  const free = (await readFunds(sql, chain)).funds.get(currency)?.free;
  if (free === undefined || free <= ceiling) return false;
  const amount = cutTo(subtract(free, target), tokenDecimals(currency, network));
  const outgoingId = newId("out");
  if (!await queueCold(sql, { outgoingId, network, currency, amount, destination })) return false;
  log.info("{network}: {amount} {currency} go to the cold wallet as {outgoingId}", {
    network,
    amount: formatAmount(amount),
    currency,
    outgoingId,
  });
  return true;
}
