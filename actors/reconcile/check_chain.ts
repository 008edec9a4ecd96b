/**
 * The books against a chain, beside a working service: both sides are compared as of one solid
 * block that the service's scan has passed, because they move while they are read.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import { transfersBetween } from "../../chains/transfers_between.ts";
import { add, type Amount, formatAmount, subtract, ZERO } from "../../ledger/money/amount.ts";
import type { Currency } from "../../ledger/money/pair.ts";
import type { Difference } from "../../ledger/reconcile/difference.ts";
import {
  type AddressHolding,
  listPaidAttempts,
  readAddressHoldings,
  readOwed,
} from "../../ledger/reconcile/holdings.ts";
import type { ReconcileScope } from "../../ledger/reconcile/difference.ts";
import { checkHotWallet } from "./check_hot_wallet.ts";
import type { Compared, ReportedHolding, ReportedPart, ReportedRule } from "./report.ts";
import {
  type ChainCheck,
  NODE_MS,
  passedBlock,
  PAUSE_MS,
  type ReconciledChain,
  ScanBehind,
  TRIES,
} from "./passed_block.ts";

/** Payouts that are looked up, the newest ones. */
const PAYOUTS = 200;
/** Questions to a node at the same time. */
const AT_ONCE = 8;
/** Addresses of one comparison where nodes are to be spared: the fullest, and as many by chance. */
const ADDRESSES = 1_000;

/** Said of a network that could not be compared at all. */
export const CHAIN_RULE = "books and chain agree";

/** Holdings of a network's wallets in one currency, and the amount owed from them. */
interface Holding {
  readonly currency: Currency;
  readonly hotWallet: Amount;
  readonly addresses: Amount;
  /** In the cold wallet; zero where none is configured. */
  readonly cold: Amount;
  readonly inFlight: Amount;
  readonly owed: Amount;
}

export interface ChainCheckOptions {
  /** `quick`: what costs the same however many payments there were; default `full`. */
  readonly scope?: ReconcileScope;
  /** True where only some addresses are asked for, so that nodes are spared; default all of them. */
  readonly sparesNodes?: boolean;
  /** True where what the hot wallet holds is taken for right; default not. */
  readonly acceptsHotWallet?: boolean;
}

/** Compares the books with one network; a rule that cannot be compared does not keep others from it. */
export async function checkChain(
  check: ChainCheck,
  { scope = "full", sparesNodes = false, acceptsHotWallet = false }: ChainCheckOptions = {},
): Promise<ReportedPart> {
  const { network } = check.chain;
  const holdings: Holding[] = [];
  const rules = await compareEach([
    {
      rule: "addresses hold what was paid to them",
      scope: "full",
      compare: () => compareAddresses(check, sparesNodes),
    },
    {
      rule: "payouts that count as paid are on the chain",
      scope: "quick",
      compare: () => comparePayouts(check),
    },
    {
      rule: "the wallets hold what merchants are owed",
      scope: "full",
      compare: () => compareWallets(check, holdings),
    },
    {
      rule: "the hot wallet moved by our orders only",
      scope: "quick",
      compare: () => checkHotWallet(check, acceptsHotWallet),
    },
  ].filter((rule) => scope === "full" || rule.scope === "quick"));
  // nothing is known: the node or the service's scan is away
  const [first] = rules;
  const isUnread = rules.every((one) => one.unchecked !== null && one.differences.length === 0);
  if (first !== undefined && isUnread) {
    return { network, rules: [{ ...first, rule: CHAIN_RULE }], holdings: [] };
  }
  return { network, rules, holdings: holdings.map(reported) };
}

interface Rule {
  readonly rule: string;
  readonly compare: () => Promise<Compared>;
}

async function compareEach(rules: readonly Rule[]): Promise<readonly ReportedRule[]> {
  const results: ReportedRule[] = [];
  // it was waited for once: the rules after it would wait as long, for nothing
  let behind: string | null = null;
  for (const { rule, compare } of rules) {
    if (behind !== null) {
      results.push({ rule, differences: [], unchecked: behind });
      continue;
    }
    try {
      results.push({ rule, ...await compare() });
    } catch (error) {
      if (error instanceof ScanBehind) behind = error.message;
      const isAway = error instanceof ChainUnavailable || error instanceof ScanBehind;
      if (!isAway) logEvent("reconcile.rule_broke", { rule, error });
      const reason = error instanceof Error ? error.message : String(error);
      const unchecked = isAway ? reason : `comparing broke: ${reason}`;
      results.push({ rule, differences: [], unchecked });
    }
  }
  return results;
}

/** Compares until it holds, or until it does not although no block came in between. */
async function compareAddresses(
  check: ChainCheck,
  sparesNodes: boolean,
): Promise<Compared> {
  const { sql, chain } = check;
  const readable = new Set<string>(chain.capabilities.currencies);
  let suspects: ReadonlySet<string> | null = null;
  let differences: readonly Difference[] = [];
  for (let i = 0; i < TRIES; i++) {
    const height = await passedBlock(check);
    let expected = (await readAddressHoldings(sql, chain.network, height))
      .filter((holding) => readable.has(holding.currency))
      .filter((holding) => suspects === null || suspects.has(keyOf(holding)));
    if (sparesNodes && suspects === null) expected = someOf(expected);
    const wrong = await wrongBalances(chain, expected);
    if (wrong.length === 0) return whole([]);
    differences = wrong.map(({ holding, found }) => ({
      subject: `${holding.address} ${holding.currency}`,
      detail: `${formatAmount(found)} on the chain, ${formatAmount(allOf(holding))} by the books`,
    }));
    const { height: now } = await chain.solid(AbortSignal.timeout(NODE_MS));
    if (now === height) break;
    suspects = new Set(wrong.map(({ holding }) => keyOf(holding)));
  }
  return whole(differences);
}

/** The fullest addresses, and others by chance, so that each has its turn. */
function someOf(all: readonly AddressHolding[]): AddressHolding[] {
  const byAmount = all.toSorted((a, b) => a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0);
  const others = byAmount.splice(ADDRESSES);
  return [...byAmount, ...others.filter(() => Math.random() < ADDRESSES / others.length)];
}

function keyOf(holding: AddressHolding): string {
  return `${holding.address} ${holding.currency}`;
}

/** Everything that an address has to hold. */
function allOf({ amount, setAside }: AddressHolding): Amount {
  return add(amount, setAside);
}

/** True of the balance that the books explain; where others' money comes and goes by hand, of any that covers it. */
function isRight(holding: AddressHolding, found: Amount): boolean {
  const all = allOf(holding);
  return holding.isMisdirected ? found >= all : found === all;
}

async function wrongBalances(chain: ReconciledChain, expected: readonly AddressHolding[]) {
  const wrong: { holding: AddressHolding; found: Amount }[] = [];
  await eachOf(expected, async (holding) => {
    const signal = AbortSignal.timeout(NODE_MS);
    const found = await chain.balanceOf(holding.address, holding.currency, signal);
    if (!isRight(holding, found)) wrong.push({ holding, found });
  });
  return wrong;
}

async function comparePayouts({ sql, chain }: ChainCheck): Promise<Compared> {
  const attempts = await listPaidAttempts(sql, chain.network, PAYOUTS);
  const differences: Difference[] = [];
  await eachOf(attempts, async (attempt) => {
    const { currency, destination: to } = attempt;
    const ends = { currency, from: chain.hotWallet, to };
    const found = await chain.transaction(attempt.txid, "solid", AbortSignal.timeout(NODE_MS));
    const pays = found.kind === "found" && found.transaction.success &&
      transfersBetween(chain, found.transaction.transfers, ends)
        .some(({ amount }) => amount === attempt.amount);
    if (pays) return;
    differences.push({
      subject: `${attempt.outgoingId} ${attempt.txid}`,
      detail: found.kind === "found" ? "is on the chain and does not pay this" : found.kind,
    });
  });
  return whole(differences);
}

/** @param holdings takes what was compared */
async function compareWallets(check: ChainCheck, holdings: Holding[]): Promise<Compared> {
  const { chain, pause } = check;
  for (let i = 0;; i++) {
    const read = await readHoldings(check);
    const short = read.filter((holding) => heldOf(holding) < holding.owed);
    // a payout may be final on the chain a moment before the books know
    if (short.length === 0 || i === TRIES) {
      holdings.push(...read);
      return whole(short.map((holding) => ({
        subject: `${holding.currency}/${chain.network}`,
        detail: `${formatAmount(subtract(holding.owed, heldOf(holding)))} are missing`,
      })));
    }
    await pause(PAUSE_MS);
  }
}

function whole(differences: readonly Difference[]): Compared {
  return { differences, unchecked: null };
}

/** Everything that the wallets hold: a sweep or a cold transfer on its way is in one of the three. */
export function heldOf({ hotWallet, addresses, cold }: Holding): Amount {
  return add(add(hotWallet, addresses), cold);
}

async function readHoldings(check: ChainCheck): Promise<readonly Holding[]> {
  const { sql, chain, coldAddress } = check;
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
      cold: coldAddress === null
        ? ZERO
        : await chain.balanceOf(coldAddress, currency, AbortSignal.timeout(NODE_MS)),
      inFlight: due?.inFlight ?? ZERO,
      owed: due?.amount ?? ZERO,
    };
  }));
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    try {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
    } catch (error) {
      // the others end with what they are at: nothing is asked for an answer that is not awaited
      left.length = 0;
      throw error;
    }
  }));
}

function reported(holding: Holding): ReportedHolding {
  return {
    currency: holding.currency,
    hotWallet: formatAmount(holding.hotWallet),
    addresses: formatAmount(holding.addresses),
    cold: formatAmount(holding.cold),
    inFlight: formatAmount(holding.inFlight),
    owed: formatAmount(holding.owed),
    house: formatAmount(subtract(heldOf(holding), holding.owed)),
  };
}
