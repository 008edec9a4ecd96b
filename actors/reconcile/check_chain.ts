/**
 * The books against a chain, beside a working service: both sides are compared as of one solid
 * block that the service's scan has passed, because they move while they are read.
 *
 * @module
 */

import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { add, type Amount, formatAmount, subtract, ZERO } from "../../ledger/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Currency } from "../../ledger/pair.ts";
import type { Difference } from "../../ledger/reconcile/difference.ts";
import { listPaidAttempts, type PaidAttempt } from "../../ledger/reconcile/list_paid_attempts.ts";
import {
  type AddressHolding,
  readAddressHoldings,
} from "../../ledger/reconcile/read_address_holdings.ts";
import { readOwed } from "../../ledger/reconcile/read_owed.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";

/** Payouts that are looked up, the newest ones. */
const PAYOUTS = 200;
/** Questions to a node at the same time. */
const AT_ONCE = 8;
/** How often a comparison is made again that may have been overtaken by a new block. */
const TRIES = 20;
const PAUSE_MS = 500;
/** Bound of one question. */
const NODE_MS = 10_000;

/** What is asked of a chain. */
export type ReconciledChain = Pick<
  Chain,
  "network" | "capabilities" | "hotWallet" | "solid" | "balanceOf" | "transaction"
>;

/** What the wallets of a network hold in one currency, and what is owed from it. */
export interface Holding {
  readonly currency: Currency;
  readonly hotWallet: Amount;
  readonly addresses: Amount;
  readonly inFlight: Amount;
  readonly owed: Amount;
}

/** One comparison with the chain. */
export interface ChainResult {
  readonly rule: string;
  readonly differences: readonly Difference[];
}

/** What became of comparing a network. */
export type ChainReport =
  | {
    readonly kind: "checked";
    readonly results: readonly ChainResult[];
    readonly holdings: readonly Holding[];
  }
  /** Nothing is known: the node or the service's scan is away. */
  | { readonly kind: "unchecked"; readonly reason: string };

/** What the comparison works with. */
export interface ChainCheck {
  readonly sql: Sql;
  readonly chain: ReconciledChain;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/** Compares the books with one network. */
export async function checkChain(check: ChainCheck): Promise<ChainReport> {
  const { sql, chain } = check;
  try {
    const addresses = await compareAddresses(check);
    const payouts = await comparePayouts(
      chain,
      await listPaidAttempts(sql, chain.network, PAYOUTS),
    );
    const wallets = await compareWallets(check);
    return {
      kind: "checked",
      results: [
        { rule: "addresses hold what was paid to them", differences: addresses },
        { rule: "payouts that count as paid are on the chain", differences: payouts },
        { rule: "the wallets hold what merchants are owed", differences: wallets.differences },
      ],
      holdings: wallets.holdings,
    };
  } catch (error) {
    if (error instanceof ChainUnavailable || error instanceof ScanBehind) {
      return { kind: "unchecked", reason: error.message };
    }
    throw error;
  }
}

/** Our own scan does not move: is the service running? */
class ScanBehind extends Error {}

/** The chain's newest solid block, once our scan has passed it. */
async function passedBlock({ sql, chain, pause }: ChainCheck): Promise<number> {
  const { height } = await chain.solid(AbortSignal.timeout(NODE_MS));
  for (let i = 0; i < TRIES; i++) {
    const cursor = await readCursor(sql, chain.network, "solid");
    if (cursor !== null && cursor.height >= height) return height;
    await pause(PAUSE_MS);
  }
  throw new ScanBehind(`Cannot compare as the service's scan has not passed block ${height}`);
}

/** Compares until it holds, or until it does not although no block came in between. */
async function compareAddresses(check: ChainCheck): Promise<readonly Difference[]> {
  const { sql, chain } = check;
  const readable = new Set<string>(chain.capabilities.currencies);
  let suspects: ReadonlySet<string> | null = null;
  let differences: readonly Difference[] = [];
  for (let i = 0; i < TRIES; i++) {
    const height = await passedBlock(check);
    const expected = (await readAddressHoldings(sql, chain.network, height))
      .filter((holding) => readable.has(holding.currency))
      .filter((holding) => suspects === null || suspects.has(keyOf(holding)));
    const wrong = await wrongBalances(chain, expected);
    if (wrong.length === 0) return [];
    differences = wrong.map(({ holding, found }) => ({
      subject: `${holding.address} ${holding.currency}`,
      detail: `${formatAmount(found)} on the chain, ${formatAmount(holding.amount)} by the books`,
    }));
    const { height: now } = await chain.solid(AbortSignal.timeout(NODE_MS));
    if (now === height) return differences;
    suspects = new Set(wrong.map(({ holding }) => keyOf(holding)));
  }
  return differences;
}

function keyOf(holding: AddressHolding): string {
  return `${holding.address} ${holding.currency}`;
}

async function wrongBalances(chain: ReconciledChain, expected: readonly AddressHolding[]) {
  const wrong: { holding: AddressHolding; found: Amount }[] = [];
  await eachOf(expected, async (holding) => {
    const signal = AbortSignal.timeout(NODE_MS);
    const found = await chain.balanceOf(holding.address, holding.currency, signal);
    if (found !== holding.amount) wrong.push({ holding, found });
  });
  return wrong;
}

async function comparePayouts(
  chain: ReconciledChain,
  attempts: readonly PaidAttempt[],
): Promise<readonly Difference[]> {
  const differences: Difference[] = [];
  await eachOf(attempts, async (attempt) => {
    const found = await chain.transaction(attempt.txid, "solid", AbortSignal.timeout(NODE_MS));
    const pays = found.kind === "found" && found.transaction.success &&
      found.transaction.transfers.some((transfer) =>
        transfer.from === chain.hotWallet && transfer.to === attempt.destination &&
        transfer.currency === attempt.currency && transfer.amount === attempt.amount
      );
    if (pays) return;
    differences.push({
      subject: `${attempt.outgoingId} ${attempt.txid}`,
      detail: found.kind === "found" ? "is on the chain and does not pay this" : found.kind,
    });
  });
  return differences;
}

async function compareWallets(check: ChainCheck): Promise<{
  readonly differences: readonly Difference[];
  readonly holdings: readonly Holding[];
}> {
  const { chain, pause } = check;
  for (let i = 0;; i++) {
    const holdings = await readHoldings(check);
    const short = holdings.filter(({ hotWallet, addresses, owed }) =>
      add(hotWallet, addresses) < owed
    );
    // a payout may be final on the chain a moment before the books know
    if (short.length === 0 || i === TRIES) {
      const differences = short.map(({ currency, hotWallet, addresses, owed }) => ({
        subject: `${currency}/${chain.network}`,
        detail: `${formatAmount(subtract(owed, add(hotWallet, addresses)))} are missing`,
      }));
      return { differences, holdings };
    }
    await pause(PAUSE_MS);
  }
}

async function readHoldings(check: ChainCheck): Promise<readonly Holding[]> {
  const { sql, chain } = check;
  const height = await passedBlock(check);
  const [held, owed] = await Promise.all([
    readAddressHoldings(sql, chain.network, height),
    readOwed(sql, chain.network),
  ]);
  return await Promise.all(chain.capabilities.currencies.map(async (currency) => {
    const due = owed.find((one) => one.currency === currency);
    return {
      currency,
      hotWallet: await chain.balanceOf(chain.hotWallet, currency, AbortSignal.timeout(NODE_MS)),
      addresses: held.filter((one) => one.currency === currency)
        .reduce((sum, one) => add(sum, one.amount), ZERO),
      inFlight: due?.inFlight ?? ZERO,
      owed: due?.amount ?? ZERO,
    };
  }));
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  }));
}
