import { assertEquals } from "@std/assert";
import { z } from "zod";
import { chainInfo, someAddress, transfersTo } from "./chain_audit.ts";
import { ask, eventually, expectBody } from "./client.ts";
import { mineUntil } from "./chain_faults.ts";
import type { Shop } from "./shop.ts";

/** A withdrawal of 10 USDT that was acknowledged. */
export interface Payout {
  readonly name: string;
  readonly destination: string;
  readonly withdrawalId: string;
}

/** USDT that every payout sends, and what it costs its merchant: 1 commission, 1 network fee. */
const AMOUNT = 10_000_000n;
const DEBIT = 12_000_000n;

/** The merchant asks for a payout; an answer that was lost is found by the reference. */
export async function withdraw(shop: Shop, name: string): Promise<Payout> {
  const destination = someAddress();
  const answer = await ask(shop.service, "POST", "/api/withdrawals", {
    amount: "10",
    currency: "USDT",
    network: "TRX",
    destination,
    referenceId: `payout-${name}`,
  });
  const { withdrawalId } = expectBody(z.object({ withdrawalId: z.string() }), answer, 201, 409);
  return { name, destination, withdrawalId };
}

/** From now on the audit wants this payout paid. */
export function expectPaid(shop: Shop, payout: Payout): void {
  shop.payments.set(payout.withdrawalId, "withdrawal.confirmed");
  shop.expected -= DEBIT;
  shop.paidOut += AMOUNT;
}

/** From now on the audit wants this payout refunded to the last unit. */
export function expectRefund(shop: Shop, payout: Payout): void {
  shop.payments.set(payout.withdrawalId, "withdrawal.failed");
}

/**
 * Makes blocks until the payout's transaction is final and settled. Its 30 s may be over before the
 * first of them, when the service died meanwhile on a slow machine: it is proven dead and sent anew.
 */
export async function confirmPayout(shop: Shop, payout: Payout): Promise<void> {
  expectPaid(shop, payout);
  await mineUntil(shop, payout.withdrawalId, "CONFIRMED");
}

/** Waits until a transaction waits for its block. */
export async function untilSent(shop: Shop): Promise<void> {
  await eventually("a transaction in the pool", async () => {
    return (await chainInfo(shop.service)).pending > 0;
  });
}

/** Compares a payout with the chain and with what the merchant is shown. */
export async function assertPaidOnce(shop: Shop, payout: Payout): Promise<void> {
  const onChain = await transfersTo(shop.service, payout.destination);
  assertEquals(onChain.map(({ amount }) => amount), [AMOUNT], "payouts on the chain");
  assertEquals(await withdrawalsOf(shop, payout.name), [{
    id: payout.withdrawalId,
    amount: "10",
    status: "CONFIRMED",
    fee: "1",
    commission: "1",
    destination: payout.destination,
    txHash: onChain[0]?.txid ?? null,
  }]);
}

/** Compares a payout that was given up with the chain and with what the merchant is shown. */
export async function assertNeverPaid(shop: Shop, payout: Payout): Promise<void> {
  assertEquals(await transfersTo(shop.service, payout.destination), [], "payouts on the chain");
  const shown = await withdrawalsOf(shop, payout.name);
  assertEquals(shown.filter(({ id }) => id === payout.withdrawalId).map(({ status }) => status), [
    "FAILED",
  ]);
}

/** The withdrawals under a story's reference as the merchant is shown them. */
export async function withdrawalsOf(shop: Shop, name: string) {
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
  const answer = await ask(shop.service, "GET", "/api/withdrawals?limit=100");
  return expectBody(z.object({ withdrawals: z.array(Withdrawal) }), answer, 200).withdrawals
    .filter(({ referenceId }) => referenceId === `payout-${name}`)
    .map(({ referenceId: _, ...withdrawal }) => withdrawal);
}
