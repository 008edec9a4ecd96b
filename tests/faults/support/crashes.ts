import { assertEquals } from "@std/assert";
import type { CrashPointName } from "../../../actors/runtime/crash_point.ts";
import { withService } from "../../support/service.ts";
import { audit } from "./audit.ts";
import { assertCreditedOnce, confirmDeposit, payIn } from "./deposit.ts";
import { assertPaidOnce, confirmPayout, withdraw } from "./payout.ts";
import { openShop, SHOP_ENV } from "./shop.ts";

/**
 * Which passings of each point a story is interrupted at. A story is one customer's deposit and one
 * payout, to the end; whatever is not answered meanwhile is asked again with the same identifiers.
 * It passes, in this order: the journal for the address, the deposit seen, the deposit credited, the
 * withdrawal, the payout settled; the watcher for a block before the deposit's, for the deposit's,
 * for one before the payout's, for the payout's; the webhook for the deposit and the withdrawal. A
 * new point needs a line here, otherwise this does not compile.
 */
export const PASSINGS = {
  "journal.before-write": [1, 2, 3, 4, 5],
  "journal.after-write": [1, 2, 3, 4, 5],
  "addresses.after-watch": [1],
  "watcher.after-inbox": [2, 4],
  "watcher.after-cursor": [2, 4],
  "treasury.after-sign": [1],
  "treasury.after-commit": [1],
  "treasury.after-broadcast": [1],
  "webhook.after-claim": [1, 2],
  "webhook.after-send": [1, 2],
} as const satisfies Record<CrashPointName, readonly number[]>;

/**
 * Tells one story per passing of the given points, each interrupted there by `kill -9` of the
 * service, and audits after each that everything happened once. All on one data folder, so that
 * every start also finds the history of the crashes before it.
 */
export async function surviveCrashes(
  points: readonly (keyof typeof PASSINGS)[],
  step: (name: string, body: () => Promise<void>) => Promise<boolean>,
): Promise<void> {
  await withService(async (service) => {
    await using shop = await openShop(service);
    for (const point of points) {
      for (const passing of PASSINGS[point]) {
        const crashAt = `${point}@${passing}`;
        const survived = await step(crashAt, async () => {
          await service.kill9();
          await service.start({ crashAt });
          let armed = true;
          const crash = service.ended.then(async (end) => {
            if (armed) await service.start();
            return end;
          });
          const name = crashAt.replace("@", "-");
          const paid = await payIn(shop, name);
          await confirmDeposit(shop, paid);
          const payout = await withdraw(shop, name);
          await confirmPayout(shop, payout);
          await audit(shop);
          const end = await within(20_000, crash);
          armed = false;
          assertEquals(end, { code: 137, signal: "SIGKILL" }, "the point was not passed");
          await assertCreditedOnce(shop, paid);
          await assertPaidOnce(shop, payout);
        });
        if (!survived) throw new Error(`Cannot go on after a story that went wrong: ${crashAt}`);
      }
    }
  }, { env: SHOP_ENV });
}

/** The promise's value, or `null` after a while. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => timer = setTimeout(() => resolve(null), ms));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
