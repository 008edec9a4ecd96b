import { assertEquals } from "@std/assert";
import { z } from "zod";
import { chainInfo, someAddress, transfersTo } from "./chain_audit.ts";
import { ask, eventually, expectBody } from "./client.ts";
import { mine, payOnce, type Shop } from "./shop.ts";

/** USDT that a story's customer pays in, and what of it is left: 1 % commission, 0.5 activation. */
const PAID_IN = "100";
const RECEIVABLE = 98_500_000n;
/** USDT that a story pays out, and what it costs: 1 commission, 1 network fee. */
const PAID_OUT = "10";
const DEBIT = 12_000_000n;

const Address = z.object({ address: z.string() });
const Withdrawal = z.object({ withdrawalId: z.string() });

/** One customer's deposit and one payout, told from the outside. */
export interface Story {
  readonly name: string;
  readonly destination: string;
  readonly address: string;
  readonly depositId: string;
  readonly withdrawalId: string;
}

/**
 * Plays one story to its end: a deposit address, a payment on the chain, the deposit PENDING then
 * CONFIRMED, a withdrawal CONFIRMED, both events received. The service may die and come back at
 * any time meanwhile: whatever was not answered is asked again with the same identifiers.
 */
export async function play(shop: Shop, name: string): Promise<Story> {
  const { service, receiver } = shop;
  const { sql } = service;
  const destination = someAddress();

  const { address } = expectBody(
    Address,
    await ask(service, "POST", "/api/deposit-address", {
      network: "TRX",
      identifier: name,
      referenceId: `order-${name}`,
    }),
    201,
  );
  const txid = await payOnce(shop, address, PAID_IN);
  await mine(shop, 1);
  const depositId = await eventually(`deposit of ${name} pending`, async () => {
    const [row] = await sql<{ id: string; status: string }[]>`
      SELECT id, status FROM book.deposit WHERE txid = ${txid}`;
    return row?.id;
  });
  shop.payments.set(depositId, "deposit.confirmed");
  await mine(shop, 3);
  await eventually(`deposit of ${name} confirmed`, () => hasStatus(shop, depositId, "CONFIRMED"));

  const { withdrawalId } = expectBody(
    Withdrawal,
    await ask(service, "POST", "/api/withdrawals", {
      amount: PAID_OUT,
      currency: "USDT",
      network: "TRX",
      destination,
      referenceId: `payout-${name}`,
    }),
    201,
    409, // an earlier try was heard: its answer was lost
  );
  shop.payments.set(withdrawalId, "withdrawal.confirmed");
  await eventually(`payout of ${name} on the chain`, async () => {
    return (await chainInfo(service)).pending > 0;
  });
  await mine(shop, 1);
  await mine(shop, 3);
  await eventually(
    `withdrawal of ${name} confirmed`,
    () => hasStatus(shop, withdrawalId, "CONFIRMED"),
  );
  for (const paymentId of [depositId, withdrawalId]) {
    await eventually(
      `event of ${paymentId}`,
      () =>
        Promise.resolve(receiver.deliveries.some((delivery) => delivery.paymentId === paymentId)),
    );
  }
  shop.expected += RECEIVABLE - DEBIT;
  shop.paidOut += BigInt(PAID_OUT) * 1_000_000n;
  return { name, destination, address, depositId, withdrawalId };
}

/** Whether a payment has a status, by the service's own rows. */
export async function hasStatus(shop: Shop, paymentId: string, status: string): Promise<boolean> {
  const rows = await shop.service.sql`
    SELECT FROM book.deposit WHERE id = ${paymentId} AND status = ${status}
    UNION ALL SELECT FROM book.withdrawal WHERE id = ${paymentId} AND status = ${status}`;
  return rows.length > 0;
}

/** Compares everything that a story was to leave behind, through the interface and on the chain. */
export async function assertHappenedOnce(shop: Shop, story: Story): Promise<void> {
  const { service } = shop;
  const { name, destination, address, depositId, withdrawalId } = story;

  const paidIn = await transfersTo(service, address);
  assertEquals(paidIn.map(({ amount }) => amount), [100_000_000n], "payments of the customer");
  const deposits = expectBody(
    z.object({ deposits: z.array(z.looseObject({})) }),
    await ask(service, "GET", `/api/deposits?referenceId=order-${name}`),
    200,
  ).deposits;
  assertEquals(deposits.map(pick("id", "amount", "status", "fee", "commission", "metadata")), [{
    id: depositId,
    amount: "100",
    status: "CONFIRMED",
    fee: "0.5",
    commission: "1",
    metadata: { txHash: paidIn[0]?.txid },
  }]);

  const paidOut = await transfersTo(service, destination);
  assertEquals(paidOut.map(({ amount }) => amount), [10_000_000n], "payouts on the chain");
  const withdrawals = expectBody(
    z.object({ withdrawals: z.array(z.looseObject({})) }),
    await ask(service, "GET", "/api/withdrawals?limit=100"),
    200,
  ).withdrawals.filter((row) => row["referenceId"] === `payout-${name}`);
  const fields = pick("id", "amount", "status", "fee", "commission", "destination", "txHash");
  assertEquals(withdrawals.map(fields), [{
    id: withdrawalId,
    amount: "10",
    status: "CONFIRMED",
    fee: "1",
    commission: "1",
    destination,
    txHash: paidOut[0]?.txid,
  }]);
}

function pick(...names: readonly string[]) {
  return (row: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(names.map((name) => [name, row[name]]));
}
