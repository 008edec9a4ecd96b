import { z } from "zod";
import { delay } from "../../ledger/database/delay.ts";
import { tokenDecimals } from "../../ledger/money/pair.ts";
import { ask, eventually } from "../faults/support/client.ts";
import { kindOf } from "./chain_kinds.ts";
import type { ChainProcess } from "./chain_process.ts";
import {
  issueAddress,
  type IssuedAddress,
  type SoakMerchant,
  type SoakWorld,
} from "./chain_world.ts";
import { MILLIONTH, textOf, TOKEN } from "./units.ts";

/** Progress of customers. */
export interface Progress {
  paid: number;
  asked: number;
}

/** Payments that one transaction may carry; and how many of a hundred payments are such ones. */
const MOST_TOGETHER = 4;
const TOGETHER_PERCENT = 4;
/** Pause of a customer before what was refused is tried again. */
const AGAIN_MS = 250;
/** Part of the payouts that may be asked for before the same part of the deposits is paid. */
const AHEAD = 0.05;
/** Payouts that are under way at the same time: with more of them the last would meet no trouble any more. */
const UNDER_WAY = 300;

/**
 * Customers: each gets an address and pays to it, now and then several payments in one transaction,
 * now and then less than the threshold of fees. A payment whose answer was lost is not repeated:
 * {@linkcode payWhoIsMissing} looks at the end, as a customer would.
 */
export async function payIn(world: SoakWorld, progress: Progress): Promise<void> {
  const draw = world.draws("customers");
  const { merchants, options } = world;
  let next = 0;
  const customer = async () => {
    while (next < options.deposits) {
      while (progress.paid / options.deposits > progress.asked / options.payouts + AHEAD) {
        await delay(AGAIN_MS);
      }
      if (next >= options.deposits) return;
      const together = draw() * 100 < TOGETHER_PERCENT ? 1 + Math.ceil(draw() * MOST_TOGETHER) : 1;
      const first = next;
      next = Math.min(options.deposits, next + together);
      const plan = Array.from({ length: next - first }, (_, n) => ({
        merchant: pick(merchants, draw),
        identifier: `customer-${first + n}`,
        units: drawUnits(draw),
      }));
      const payments = await Promise.all(plan.map(async ({ merchant, identifier, units }) => ({
        issued: await issueAddress(world, merchant, identifier),
        units,
      })));
      await pay(world, payments);
      progress.paid += payments.length;
    }
  };
  await Promise.all(Array.from({ length: options.workers }, customer));
}

/** Merchants' systems: each payout is asked for until it is answered for good. */
export async function askForPayouts(world: SoakWorld, progress: Progress): Promise<void> {
  const draw = world.draws("payouts");
  const { merchants, options, payouts } = world;
  const { family } = kindOf(options.network);
  let next = 0;
  const system = async () => {
    for (let number = next++; number < options.payouts; number = next++) {
      // so that payouts and deposits meet the same troubles, from the first to the last
      while (
        progress.asked / options.payouts > progress.paid / options.deposits + AHEAD ||
        progress.asked - world.receiver.ended > UNDER_WAY
      ) {
        await delay(AGAIN_MS);
      }
      const referenceId = `payout-${number}`;
      const merchant = pick(merchants, draw);
      const amount = textOf(TOKEN + BigInt(Math.floor(draw() * 4_000_000)) * MILLIONTH);
      const destination = family.someAddress();
      const withdrawalId = await withdraw(world, merchant, { referenceId, amount, destination });
      payouts.push({ merchant, referenceId, destination, amount, withdrawalId });
      progress.asked++;
    }
  };
  await Promise.all(Array.from({ length: options.workers }, system));
}

/**
 * Pays once more to every address that nothing was paid to on the chain: a reorganisation dropped
 * the payment, it expired, or its node died. Nothing may wait for a block.
 *
 * @param paid addresses that have a transfer
 * @returns how many were missing
 */
export async function payWhoIsMissing(
  world: SoakWorld,
  paid: ReadonlySet<string>,
): Promise<number> {
  const draw = world.draws("late");
  const missing = world.addresses.filter(({ address }) => !paid.has(address));
  for (const issued of missing) await pay(world, [{ issued, units: drawUnits(draw) }]);
  return missing.length;
}

interface Payment {
  readonly issued: IssuedAddress;
  readonly units: bigint;
}

async function pay({ chain, options }: SoakWorld, payments: readonly Payment[]): Promise<void> {
  const [first] = payments;
  if (first === undefined) return;
  for (;;) {
    try {
      if (payments.length === 1) {
        const { issued: { address: to }, units } = first;
        await chain.control("/dev/transfer", { to, amount: textOf(units), currency: "USDT" });
      } else {
        await chain.control("/dev/emit", {
          steps: payments.map(({ issued, units }) => ({
            do: "transfer",
            to: issued.address,
            amount: String(units * 10n ** BigInt(tokenDecimals("USDT", options.network)) / TOKEN),
          })),
        });
      }
      return;
    } catch (error) {
      // a refusal is final for this transaction; silence may mean that it was taken
      if (!(error instanceof RangeError)) return await untilBack(chain);
      await delay(AGAIN_MS);
    }
  }
}

/** Waits until the node is back; payments made before would be lost like this one. */
async function untilBack(chain: ChainProcess): Promise<void> {
  await eventually("the chain's node", () => chain.info());
}

const Created = z.object({ withdrawalId: z.string() });

async function withdraw(
  { service, options: { network } }: SoakWorld,
  merchant: SoakMerchant,
  wanted: {
    readonly referenceId: string;
    readonly amount: string;
    readonly destination: string;
  },
): Promise<string> {
  const body = { ...wanted, currency: "USDT", network };
  for (;;) {
    const answer = await ask(service, "POST", "/api/withdrawals", body, merchant.apiKey);
    const created = Created.safeParse(answer.body);
    // 409: an earlier try was acknowledged, and the answer was lost
    if ((answer.status === 201 || answer.status === 409) && created.success) {
      return created.data.withdrawalId;
    }
    const text = JSON.stringify(answer.body);
    if (answer.status < 500 && !text.includes("Insufficient balance")) {
      throw new Error(`Cannot withdraw as it is refused: ${answer.status} ${text}`);
    }
    await delay(AGAIN_MS);
  }
}

/** One in ten below a dollar, which is free of fees; the rest up to fifty. */
function drawUnits(draw: () => number): bigint {
  return draw() < 0.1
    ? BigInt(1 + Math.floor(draw() * 999_999)) * MILLIONTH
    : TOKEN + BigInt(Math.floor(draw() * 49_000_000)) * MILLIONTH;
}

function pick<T>(items: readonly T[], draw: () => number): T {
  return items[Math.floor(draw() * items.length)] as T;
}
