import { assertEquals } from "@std/assert";
import { z } from "zod";
import { transfersTo } from "./chain_audit.ts";
import { ask, eventually, expectBody } from "./client.ts";
import { hasStatus, mine, payOnce, type Shop } from "./shop.ts";

/** A customer's payment that the service has seen. */
export interface PaidIn {
  readonly name: string;
  readonly address: string;
  /** Whole USDT. */
  readonly amount: bigint;
  readonly txid: string;
  readonly depositId: string;
}

/** A fresh deposit address, as the merchant asks for it. */
export async function newAddress(shop: Shop, name: string): Promise<string> {
  const answer = await ask(shop.service, "POST", "/api/deposit-address", {
    network: "TRX",
    identifier: name,
    referenceId: `order-${name}`,
  });
  return expectBody(z.object({ address: z.string() }), answer, 201).address;
}

/** A customer pays to a new address; one block later the deposit is there, not final yet. */
export async function payIn(
  shop: Shop,
  name: string,
  amount = 100n,
  expiresInMs?: number,
): Promise<PaidIn> {
  const address = await newAddress(shop, name);
  const txid = await payOnce(shop, address, String(amount), expiresInMs);
  await mine(shop, 1);
  return await untilSeen(shop, { name, address, amount, txid });
}

/** Waits until the service has seen a payment. */
export async function untilSeen(shop: Shop, paid: Omit<PaidIn, "depositId">): Promise<PaidIn> {
  const depositId = await eventually(`deposit of ${paid.name}`, async () => {
    const [row] = await shop.service.sql<{ id: string }[]>`
      SELECT id FROM book.deposit WHERE txid = ${paid.txid}`;
    return row?.id;
  });
  return { ...paid, depositId };
}

/** Makes the blocks that let a payment become final, and waits for the credit and its event. */
export async function confirmDeposit(shop: Shop, paid: PaidIn): Promise<void> {
  expectCredit(shop, paid);
  await mine(shop, 3);
  await eventually(
    `deposit of ${paid.name} confirmed`,
    () => hasStatus(shop, paid.depositId, "CONFIRMED"),
  );
}

/** From now on the audit wants this deposit credited: 1 % commission and 0.5 activation taken. */
export function expectCredit(shop: Shop, paid: PaidIn): void {
  shop.payments.set(paid.depositId, "deposit.confirmed");
  shop.expected += paid.amount * 990_000n - 500_000n;
}

/** Compares a credited deposit with the chain and with what the merchant is shown. */
export async function assertCreditedOnce(shop: Shop, paid: PaidIn): Promise<void> {
  const { name, address, amount, depositId } = paid;
  const onChain = await transfersTo(shop.service, address);
  assertEquals(onChain.map((transfer) => transfer.amount), [amount * 1_000_000n]);
  assertEquals(await depositsOf(shop, name), [{
    id: depositId,
    amount: String(amount),
    status: "CONFIRMED",
    fee: "0.5",
    commission: String(Number(amount) / 100),
    txHash: onChain[0]?.txid,
  }]);
}

/** A customer's deposits as the merchant is shown them. */
export async function depositsOf(shop: Shop, name: string) {
  const answer = await ask(shop.service, "GET", `/api/deposits?referenceId=order-${name}`);
  const Deposit = z.object({
    id: z.string(),
    amount: z.string(),
    status: z.string(),
    fee: z.string(),
    commission: z.string(),
    metadata: z.object({ txHash: z.string() }),
  });
  return expectBody(z.object({ deposits: z.array(Deposit) }), answer, 200).deposits
    .map(({ metadata, ...deposit }) => ({ ...deposit, txHash: metadata.txHash }));
}
