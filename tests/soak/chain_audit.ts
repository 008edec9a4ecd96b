/**
 * The independent auditor of a chain soak: the chain's own blocks against what merchants are shown
 * over HTTP and what their endpoints were told, counted without any code of the product.
 *
 * @module
 */

import { z } from "zod";
import { booksFaults } from "../support/books.ts";
import { ask, expectBody } from "../faults/support/client.ts";
import { auditDeposits } from "./chain_audit_deposits.ts";
import { auditEvents } from "./chain_audit_events.ts";
import { auditPayouts } from "./chain_audit_payouts.ts";
import type { ChainTransfer } from "../faults/support/chain_transfers.ts";
import type { SoakMerchant, SoakWorld } from "./chain_world.ts";
import { textOf, unitsOf } from "./units.ts";

/** One deposit as its merchant is shown it. */
const Deposit = z.object({
  id: z.string(),
  amount: z.string(),
  status: z.string(),
  fee: z.string(),
  commission: z.string(),
  metadata: z.looseObject({ txHash: z.string() }),
});
/** One withdrawal as its merchant is shown it. */
const Withdrawal = z.object({
  id: z.string(),
  amount: z.string(),
  status: z.string(),
  fee: z.string(),
  commission: z.string(),
  destination: z.string(),
  txHash: z.string().nullable(),
  referenceId: z.string().nullable(),
});
const Pages = z.object({ pages: z.number() });

export type ShownDeposit = z.infer<typeof Deposit>;
export type ShownWithdrawal = z.infer<typeof Withdrawal>;

/** Payments as one merchant is shown them. */
export interface Shown {
  readonly merchant: SoakMerchant;
  readonly deposits: readonly ShownDeposit[];
  readonly withdrawals: readonly ShownWithdrawal[];
}

/** Result of an audit. */
export interface Audit {
  /** Everything that is wrong, as sentences; empty: nothing is. */
  readonly faults: readonly string[];
  readonly figures: Readonly<Record<string, number | string>>;
}

/** Audits a run that has come to rest. @param transfers every transfer on the chain */
export async function audit(
  world: SoakWorld,
  transfers: readonly ChainTransfer[],
): Promise<Audit> {
  const { service, merchants } = world;
  const shown: Shown[] = [];
  for (const merchant of merchants) {
    shown.push({
      merchant,
      deposits: await readList(world, merchant, "deposits", Deposit),
      withdrawals: await readList(world, merchant, "withdrawals", Withdrawal),
    });
  }
  const deposits = auditDeposits(world, transfers, shown);
  const payouts = auditPayouts(world, transfers, shown, await housesOf(world));
  const faults = [...deposits.faults, ...payouts.faults];
  for (const merchant of merchants) {
    const { available, pending } = await balanceOf(world, merchant);
    const expected = (deposits.credited.get(merchant.id) ?? 0n) -
      (payouts.debited.get(merchant.id) ?? 0n);
    if (unitsOf(available) !== expected || pending !== "0") {
      faults.push(
        `${merchant.id} has ${available} available and ${pending} pending instead of ${
          textOf(expected)
        } and 0`,
      );
    }
  }
  const events = auditEvents(world, shown);
  return {
    faults: [...faults, ...events.faults, ...await booksFaults(service.sql)],
    figures: { ...deposits.figures, ...payouts.figures, ...events.figures },
  };
}

/** All pages of a merchant's list, newest first. */
async function readList<S extends z.ZodType>(
  { service }: SoakWorld,
  merchant: SoakMerchant,
  name: "deposits" | "withdrawals",
  schema: S,
): Promise<z.output<S>[]> {
  const rows: z.output<S>[] = [];
  for (let page = 1;; page++) {
    const path = `/api/${name}?limit=100&page=${page}`;
    const answer = await ask(service, "GET", path, undefined, merchant.apiKey);
    const body = expectBody(z.looseObject({ pagination: Pages }), answer, 200);
    rows.push(...z.array(schema).parse(body[name]));
    if (page >= body.pagination.pages) return rows;
  }
}

async function balanceOf({ service, options }: SoakWorld, merchant: SoakMerchant) {
  const path = `/api/balance?currency=USDT&network=${options.network}`;
  return expectBody(
    z.object({ available: z.string(), pending: z.string() }),
    await ask(service, "GET", path, undefined, merchant.apiKey),
    200,
  );
}

/** Addresses that only the service can pay from. */
async function housesOf({ service, addresses, options }: SoakWorld): Promise<ReadonlySet<string>> {
  const [wallet] = await service.sql<{ hot_wallet: string }[]>`
    SELECT hot_wallet FROM hub.wallet WHERE network = ${options.network}`;
  return new Set([wallet?.hot_wallet ?? "", ...addresses.map(({ address }) => address)]);
}
