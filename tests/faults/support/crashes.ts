import type { CrashPointName } from "../../../actors/runtime/crash_point.ts";
import { withService } from "../../support/service.ts";
import { audit } from "./audit.ts";
import { chainInfo, transfersTo } from "./chain_audit.ts";
import { eventually } from "./client.ts";
import { dieAt } from "./deaths.ts";
import {
  assertCreditedOnce,
  confirmDeposit,
  expectCredit,
  newAddress,
  type PaidIn,
  payIn,
  untilSeen,
} from "./deposit.ts";
import type { Mortal } from "./mortal.ts";
import { assertPaidOnce, expectPaid, type Payout, untilSent, withdraw } from "./payout.ts";
import { hasStatus, mine, openShop, payOnce, type Shop, SHOP_ENV } from "./shop.ts";

/** Runs something with a service that was started, and that may die and start again. */
export type Open = (body: (service: Mortal) => Promise<void>) => Promise<void>;

/** The real service, in a process of its own that a SIGKILL ends. */
export const openStarted: Open = (body) =>
  withService(async (service) => {
    await service.start();
    await body(service);
  }, { env: SHOP_ENV });

/** Crash points at which the service dies, one after the other, while something happens. */
type Deaths = readonly CrashPointName[];

const ONCE_FINAL: Deaths = [
  "watcher.after-inbox",
  "journal.before-write",
  "journal.after-write",
  "webhook.after-claim",
  "webhook.after-send",
];

/** Every moment of a deposit and of a payout with its deaths; those of sweeps are in tests/sweeps. */
export const DEATHS = {
  deposits: {
    "an address is asked for": [
      "addresses.after-watch",
      "journal.before-write",
      "journal.after-write",
    ],
    "a deposit is seen": ["watcher.after-seen", "journal.before-write", "journal.after-write"],
    "a deposit is final": ONCE_FINAL,
    "the scan moves past a deposit": ["watcher.after-cursor"],
  },
  payouts: {
    "a payout is asked for and sent": [
      "journal.before-write",
      "journal.after-write",
      "treasury.after-pull",
      "treasury.after-sign",
      "treasury.after-commit",
      "treasury.after-broadcast",
    ],
    "a payout is final": ONCE_FINAL,
    "the scan moves past a payout": ["watcher.after-cursor"],
  },
} as const satisfies Record<string, Record<string, Deaths>>;

/** Customers pay, the service dies at every moment of it, and each payment is credited once. */
export async function surviveDeposits(open: Open): Promise<void> {
  const deaths = DEATHS.deposits;
  await withShop(open, async (shop) => {
    const { service } = shop;
    const address = await dieAt(
      service,
      deaths["an address is asked for"],
      () => newAddress(shop, "first"),
    );
    const txid = await payOnce(shop, address, "100");
    const first = await dieAt(service, deaths["a deposit is seen"], async () => {
      await mine(shop, 1);
      return await untilSeen(shop, { name: "first", address, amount: 100n, txid });
    });
    await untilAlmostFinal(shop, address);
    await dieAt(service, deaths["a deposit is final"], () => credit(shop, first));
    await audit(shop);
    await assertCreditedOnce(shop, first);

    const second = await payIn(shop, "second");
    await untilAlmostFinal(shop, second.address);
    await dieAt(service, deaths["the scan moves past a deposit"], () => credit(shop, second));
    await audit(shop);
    await assertCreditedOnce(shop, second);
  });
}

/** A merchant asks for payouts, the service dies at every moment of it, and each is paid once. */
export async function survivePayouts(open: Open): Promise<void> {
  const deaths = DEATHS.payouts;
  await withShop(open, async (shop) => {
    const { service } = shop;
    await confirmDeposit(shop, await payIn(shop, "funds"));
    const first = await dieAt(
      service,
      deaths["a payout is asked for and sent"],
      () => withdraw(shop, "first"),
    );
    await intoBlock(shop, first);
    await dieAt(service, deaths["a payout is final"], () => settle(shop, first));
    await audit(shop);
    await assertPaidOnce(shop, first);

    const second = await withdraw(shop, "second");
    await intoBlock(shop, second);
    await dieAt(service, deaths["the scan moves past a payout"], () => settle(shop, second));
    await audit(shop);
    await assertPaidOnce(shop, second);
  });
}

/**
 * A merchant asks for a payout, and the service dies after the commit of it before the answer, after that
 * of the signature before the broadcast, and after the broadcast before anything is known of it.
 */
export async function surviveKilledPayout(open: Open): Promise<void> {
  await withShop(open, async (shop) => {
    await confirmDeposit(shop, await payIn(shop, "funds"));
    const payout = await dieAt(
      shop.service,
      ["journal.after-write", "treasury.after-commit", "treasury.after-broadcast"],
      () => withdraw(shop, "killed"),
    );
    await intoBlock(shop, payout);
    await settle(shop, payout);
    await audit(shop);
    await assertPaidOnce(shop, payout);
  });
}

async function withShop(open: Open, story: (shop: Shop) => Promise<void>): Promise<void> {
  await open(async (service) => {
    await using shop = await openShop(service);
    await story(shop);
  });
}

/** Makes the block that lets a deposit become final, and waits for its credit. */
async function credit(shop: Shop, paid: PaidIn): Promise<void> {
  expectCredit(shop, paid);
  await mine(shop, 1);
  await eventually("the credit", () => hasStatus(shop, paid.depositId, "CONFIRMED"));
}

/**
 * Puts a payout into a block that is not final yet. Blocks carry the present time, and a transaction
 * lives for 30 s: one that expired over the deaths on a busy machine is proven dead and sent anew.
 */
async function intoBlock(shop: Shop, payout: Payout): Promise<void> {
  await untilSent(shop);
  await eventually("the payout in a block", async () => {
    await mine(shop, 1);
    return (await transfersTo(shop.service, payout.destination)).length > 0;
  });
  await untilAlmostFinal(shop, payout.destination);
}

/** Makes the block that lets a payout become final, and waits for its settlement. */
async function settle(shop: Shop, payout: Payout): Promise<void> {
  expectPaid(shop, payout);
  await mine(shop, 1);
  await eventually("the settlement", () => hasStatus(shop, payout.withdrawalId, "CONFIRMED"));
}

/** Makes blocks until the next one makes a transfer final; what is final then has been read. */
async function untilAlmostFinal(shop: Shop, to: string): Promise<void> {
  const [transfer] = await transfersTo(shop.service, to);
  if (transfer === undefined) throw new Error(`Cannot go on as nothing was paid to: ${to}`);
  const { solid } = await chainInfo(shop.service);
  await mine(shop, transfer.height - 1 - solid);
}
