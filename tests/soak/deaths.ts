/**
 * Deaths of the real service, in a process of its own, at every crash point of a deposit and of a payout:
 * the long form of `tests/faults/crash_test.ts`, whose node dies within the process of the test.
 *
 * @module
 */

import { surviveDeposits, survivePayouts } from "../faults/support/crashes.ts";
import type { Open } from "../faults/support/crashes.ts";
import { SHOP_ENV } from "../faults/support/shop.ts";
import { withService } from "../support/service.ts";

export const USAGE = "deno task soak deaths";

const openService: Open = (body) =>
  withService(async (service) => {
    await service.start();
    await body(service);
  }, { env: SHOP_ENV });

/** Runs it; throws what was wrong. */
export async function run(): Promise<number> {
  await surviveDeposits(openService);
  await survivePayouts(openService);
  // deno-lint-ignore no-console -- the report is read on the terminal
  console.log("Every death was survived");
  return 0;
}
