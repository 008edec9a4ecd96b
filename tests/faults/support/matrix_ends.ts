import { assertEquals } from "@std/assert";
import { formatAmount, fromTokenUnits } from "../../../ledger/money/amount.ts";
import { tokenDecimals } from "../../../ledger/money/pair.ts";
import { eventually } from "./client.ts";
import { NODE_MS } from "./patience.ts";
import type { Rig } from "./matrix_rig.ts";
import { passTime } from "./pass_time.ts";
import { balanceOf, DEPOSIT, FUNDS, PAYOUT, type Subject, until } from "./matrix_subject.ts";
import { assertSwept } from "./matrix_sweeps.ts";
import type { End } from "./matrix_table.ts";

/** Funds without a payout of 10, 1 commission and 1 network fee. */
const PAID_LEFT = "88";
/** A deposit's end, whatever becomes of its address: 0.5 of 100 activated it. */
const CREDITED = {
  moved: [DEPOSIT],
  available: "99.5",
  events: ["deposit.confirmed", "transaction.confirmed"],
};
/** Lets block time pass until nothing that was sent before can land any more, and makes that solid. */
export async function leap(rig: Rig): Promise<void> {
  const { vanishesMs } = rig.family;
  await rig.mine(2, vanishesMs);
  await passTime(rig.sql, vanishesMs);
  await rig.mine(4);
}

/** Waits for the end that a cell must have, and compares everything with it. */
export async function assertEnd(rig: Rig, subject: Subject, end: End): Promise<void> {
  switch (end) {
    case "credited once":
    case "credited meanwhile":
      await until(rig, subject, "CONFIRMED", "mining");
      return await compare(rig, subject, CREDITED);
    case "failed on proof":
      await until(rig, subject, "PENDING", "waiting");
      await leap(rig);
      await until(rig, subject, "FAILED", "mining");
      return await compare(rig, subject, {
        moved: [],
        available: "0",
        events: ["deposit.failed", "transaction.failed"],
      });
    case "nothing booked":
      return await compare(rig, subject, { moved: [], available: "0", events: [] });
    case "paid once":
    case "paid once, adopted":
      await until(rig, subject, "CONFIRMED", "mining");
      await compare(rig, subject, {
        moved: [PAYOUT],
        available: PAID_LEFT,
        events: ["withdrawal.confirmed", "transaction.confirmed"],
      });
      return await assertAttempts(rig, subject, "paid");
    case "refunded":
    case "refunded, cancelled":
      await until(rig, subject, "FAILED", "mining");
      await compare(rig, subject, {
        moved: [],
        available: FUNDS,
        events: ["withdrawal.failed", "transaction.failed"],
      });
      return await assertAttempts(rig, subject, end === "refunded" ? "failed" : "cancelled");
    case "swept once":
      await assertSwept(rig, subject);
      return await compare(rig, subject, CREDITED);
    default:
      return end satisfies never;
  }
}

async function compare(
  rig: Rig,
  { merchantId, address, since, paymentId }: Subject,
  expected: {
    readonly moved: readonly string[];
    readonly available: string;
    readonly events: readonly string[];
  },
): Promise<void> {
  const { sql } = rig;
  await eventually(`nothing in flight of ${merchantId}`, async () => {
    const rows = await sql`
      SELECT FROM book.inbox WHERE merchant_id = ${merchantId} AND consumed_at IS NULL
      UNION ALL SELECT FROM book.outgoing WHERE merchant_id = ${merchantId} AND status NOT IN ('final', 'void')
      UNION ALL SELECT FROM book.deposit WHERE merchant_id = ${merchantId} AND status = 'PENDING'`;
    return rows.length === 0;
  }, NODE_MS);
  const { network, readTransfers } = rig.family;
  const moved = (await readTransfers(rig.chainUrl, since)).filter(({ to }) => to === address);
  assertEquals(
    moved.map(({ units }) => formatAmount(fromTokenUnits(units, tokenDecimals("USDT", network)))),
    [...expected.moved],
    "on the chain",
  );
  assertEquals(await balanceOf(rig, merchantId), expected.available, "available");
  const events = await sql<{ type: string }[]>`
    SELECT type FROM book.outbox WHERE payment_id = ${paymentId ?? ""} ORDER BY id`;
  assertEquals(events.map(({ type }) => type), [...expected.events], "events");
  const quarantined = await sql`
    SELECT FROM book.inbox WHERE merchant_id = ${merchantId} AND quarantine IS NOT NULL`;
  assertEquals(quarantined.length, 0, "quarantined");
}

/** One transaction ended it; others that had its nonce ended with that one. */
async function assertAttempts(
  { sql, family }: Rig,
  { paymentId }: Subject,
  end: "paid" | "failed" | "cancelled",
): Promise<void> {
  const rows = await sql<{ outcome: string | null }[]>`
    SELECT a.outcome FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id
    WHERE o.payment_id = ${paymentId} ORDER BY a.number`;
  const outcomes = rows.map(({ outcome }) => outcome);
  const others = family.expires ? outcomes : outcomes.filter((one) => one !== "superseded");
  assertEquals(others, [end], `attempts: ${outcomes}`);
}
