/**
 * Whether the hot wallet moved by our orders only. Its balance at one solid block, with what our own
 * transfers brought and took since then, is the least it must hold at a later one: less means that
 * somebody else moves it. More is money from outside, which is nobody's harm.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { add, type Amount, formatAmount, subtract } from "../../ledger/amount.ts";
import type { Currency } from "../../ledger/pair.ts";
import type { Difference } from "../../ledger/reconcile/difference.ts";
import {
  keepWalletLevel,
  readWalletLevel,
  readWalletMoves,
  type WalletLevel,
} from "../../ledger/reconcile/wallet_level.ts";
import { type ChainCheck, NODE_MS, passedBlock, PAUSE_MS, TRIES } from "./passed_block.ts";

const log = getLogger(["engine", "reconcile"]);

/**
 * Compares the hot wallet with what it held when it was last found right.
 *
 * @param accept whether what it holds is taken for right whatever it is: an operator said so
 */
export async function checkHotWallet(
  check: ChainCheck,
  accept = false,
): Promise<readonly Difference[]> {
  const differences: Difference[] = [];
  for (const currency of check.chain.capabilities.currencies) {
    const level = await levelNow(check, currency);
    if (level === null) continue;
    const difference = accept ? null : await compare(check, currency, level);
    if (difference !== null) differences.push(difference);
    else await keepWalletLevel(check.sql, check.chain.network, currency, level);
  }
  return differences;
}

/** What it holds at a block that is the newest before and after it was asked; null: too many blocks came. */
async function levelNow(check: ChainCheck, currency: Currency): Promise<WalletLevel | null> {
  const { chain, pause } = check;
  for (let i = 0; i < TRIES; i++) {
    const height = await passedBlock(check);
    const balance = await chain.balanceOf(chain.hotWallet, currency, AbortSignal.timeout(NODE_MS));
    const { height: after } = await chain.solid(AbortSignal.timeout(NODE_MS));
    if (after === height) return { height, balance };
    await pause(PAUSE_MS);
  }
  return null;
}

async function compare(
  { sql, chain }: ChainCheck,
  currency: Currency,
  now: WalletLevel,
): Promise<Difference | null> {
  const { network, hotWallet } = chain;
  const last = await readWalletLevel(sql, network, currency);
  if (last === null || now.height < last.height) return null;
  const { came, went } = await readWalletMoves(
    sql,
    network,
    currency,
    hotWallet,
    last.height,
    now.height,
  );
  const least = subtract(add(last.balance, came), went);
  if (now.balance < least) {
    return {
      subject: `${hotWallet} ${currency}/${network}`,
      detail: `${formatAmount(subtract(least, now.balance))} left it without an order of ours ` +
        `between block ${last.height} (${formatAmount(last.balance)}) and block ${now.height} ` +
        `(${formatAmount(now.balance)}): ${formatAmount(came)} came by sweeps, ` +
        `${formatAmount(went)} went by our transfers`,
    };
  }
  if (now.balance > least) tellFunded(chain.network, currency, subtract(now.balance, least));
  return null;
}

function tellFunded(network: string, currency: Currency, amount: Amount): void {
  log.info("{network}: {amount} {currency} came to the hot wallet from outside", {
    network,
    currency,
    amount: formatAmount(amount),
  });
}
