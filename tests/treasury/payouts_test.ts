import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { add, formatAmount, ZERO } from "../../ledger/money/amount.ts";
import { worthOf } from "../../ledger/money/fees.ts";
import { addressOf } from "../support/api.ts";
import { amount, booksFaults, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { openTreasuryRig, type TreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);
const BROADCAST = "/wallet/broadcasttransaction";

async function statusOf(rig: TreasuryRig, withdrawalId: string): Promise<string> {
  const [row] = await rig.sql<{ status: string }[]>`
    SELECT status FROM book.withdrawal WHERE id = ${withdrawalId}`;
  return row?.status ?? "none";
}

test("payouts are charged what they are quoted, cost what the chain takes, and the operator sees both", async () => {
  await using rig = await openTreasuryRig();
  const admin = await rig.api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  await rig.fees.refresh();
  await rig.api.call("PUT", "/api/admin/pairs", {
    key: admin,
    body: { currency: "USDT", network: "TRX", networkFeeMode: "dynamic" },
  });
  const { key } = await rig.merchant("1000");
  const receiver = addressOf(0xbeef);
  const first = await rig.withdraw(key, "10", receiver);
  await rig.mineUntil(
    "the first one is paid",
    async () => await statusOf(rig, first) === "CONFIRMED",
  );
  // the receiver holds the token now
  const second = await rig.withdraw(key, "10", receiver);
  await rig.mineUntil(
    "the second one is paid",
    async () => await statusOf(rig, second) === "CONFIRMED",
  );
  await rig.setFaults([{ path: BROADCAST, kind: "revert" }]);
  const third = await rig.withdraw(key, "10", receiver);
  await rig.mineUntil("the third one failed", async () => await statusOf(rig, third) === "FAILED");
  await rig.setFaults([{ path: BROADCAST, kind: "out-of-energy" }]);
  const fourth = await rig.withdraw(key, "10", receiver);
  await rig.mineUntil(
    "the fourth one failed",
    async () => await statusOf(rig, fourth) === "FAILED",
  );
  await rig.setFaults([]);

  const costs = async () =>
    (await rig.api.call("GET", "/api/admin/treasury/costs", { key: admin })).body.costs;
  await until(async () => (await costs()).length === 4);
  const lines: Record<string, string>[] = await costs();
  const byPayment = new Map(lines.map((line) => [line.paymentId ?? "", line]));
  const quoted = rig.fees.basis("TRX", "USDT");
  const fee = formatAmount(quoted.fee.estimate ?? ZERO);
  const [toNew, toHolder, reverted, starved] = [first, second, third, fourth].map((id) =>
    byPayment.get(id) ?? {}
  );
  assert(toNew !== undefined && toHolder !== undefined && reverted !== undefined);
  assertEquals([toNew.outcome, toNew.charged, toHolder.charged], ["paid", fee, fee]);
  // the estimate covers what the chain took; the holder's transfer took about half
  const taken = (line: Record<string, string>) => amount(line.coin ?? "");
  const { cost } = quoted;
  assert(cost !== null);
  assert(taken(toNew) <= cost.newHolder && taken(toNew) > cost.holder);
  assert(taken(toHolder) <= cost.holder);
  assertEquals(toNew.cost, formatAmount(worthOf(taken(toNew), "0.3", 6)));
  assertEquals([toNew.coinRate, toHolder.coinRate], ["0.3", "0.3"]);
  // what failed burned something and was charged for nothing
  for (const line of [reverted, starved]) {
    assertEquals([line?.outcome, line?.charged], ["failed", "0"]);
    assert(taken(line ?? {}) > 0n);
    assert(line?.result?.startsWith("-"));
  }
  const { body } = await rig.api.call("GET", "/api/admin/treasury", { key: admin });
  const [sum] = body.networks[0].costs;
  assertEquals([sum.kind, sum.transfers, sum.failed, sum.unpriced], ["payout", 4, 2, 0]);
  assertEquals(sum.charged, formatAmount(add(amount(fee), amount(fee))));
  assertEquals(body.networks[0].costsOf30Days, body.networks[0].costs);
  const page = await rig.api.call("GET", "/api/admin/treasury/costs?limit=3", { key: admin });
  const rest = await rig.api.call(
    "GET",
    `/api/admin/treasury/costs?limit=3&before=${page.body.next}&network=TRX`,
    { key: admin },
  );
  assertEquals([page.body.costs.length, rest.body.costs.length, rest.body.next], [3, 1, null]);

  // what failed on the chain came back whole, and its reference is free; no unit is lost
  const { body: list } = await rig.api.call("GET", "/api/withdrawals?status=FAILED", { key });
  assertEquals(list.pagination.total, 2);
  const { body: balance } = await rig.api.call("GET", "/api/balance?currency=USDT&network=TRX", {
    key,
  });
  assertEquals(
    amount(balance.available),
    amount("1000") - 2n * (amount("10") + amount("1") + amount(fee)),
  );
  assertEquals(await booksFaults(rig.sql), []);
});

test("a network that nobody signs for refuses payouts at once: failed, refunded, reference free, in one commit", async () => {
  let signs = false;
  const looks: number[] = [];
  await using rig = await openTreasuryRig({
    signs: () => {
      looks.push(performance.now());
      return signs;
    },
  });
  await until(() => !rig.engine.signerOpen("TRX") && looks.length > 5);
  // at each poll while it is closed; one that signs is asked every two seconds
  const pauses = looks.slice(1).map((at, i) => at - (looks[i] ?? 0));
  assert(Math.min(...pauses) < 1_500, `a closed signer is asked after ${pauses} ms`);
  const { key, id } = await rig.merchant("100");
  const body = {
    amount: "10",
    currency: "USDT",
    network: "TRX",
    destination: addressOf(0xbeef),
    referenceId: "again",
  };
  const refused = await rig.api.call("POST", "/api/withdrawals", { key, body });
  assertEquals([refused.status, refused.body.error], [500, "Payout initiation failed"]);
  const [row] = await rig.sql<
    { status: string; reason: string; outgoing: string; same: boolean }[]
  >`
    SELECT w.status, w.reason, o.status AS outgoing, w.xmin = o.xmin AS same
    FROM book.withdrawal w JOIN book.outgoing o ON o.id = w.outgoing_id`;
  assertEquals(row, {
    status: "FAILED",
    reason: "Payout initiation failed",
    outgoing: "void",
    same: true,
  });
  const { body: balance } = await rig.api.call("GET", "/api/balance?currency=USDT&network=TRX", {
    key,
  });
  assertEquals(balance.available, "100");
  const events = await rig.sql<{ type: string }[]>`
    SELECT type FROM book.outbox WHERE merchant_id = ${id} ORDER BY id`;
  assert(events.some(({ type }) => type === "withdrawal.failed"));
  // the signer signs again: the treasury finds out by itself, and the reference can be used
  signs = true;
  await until(() => rig.engine.signerOpen("TRX"));
  const made = await rig.api.call("POST", "/api/withdrawals", { key, body });
  assertEquals(made.status, 201);
  await rig.mineUntil(
    "it is paid",
    async () => await statusOf(rig, made.body.withdrawalId) === "CONFIRMED",
  );
  assertEquals(await booksFaults(rig.sql), []);
});

test("what waits for funds is not reserved twice, and is seen with reason and age", async () => {
  await using rig = await openTreasuryRig();
  const { key } = await rig.merchant("3000000");
  const admin = await rig.api.addKey(null, { permissions: ["admin:read"] });
  const ask = (text: string) =>
    rig.api.call("POST", "/api/withdrawals", {
      key,
      body: { amount: text, currency: "USDT", network: "TRX", destination: addressOf(0xbeef) },
    });
  // what one is reserved counts at once for the others, long before any block shows it
  const asked = await Promise.all(Array.from({ length: 5 }, () => ask("600000")));
  assertEquals(asked.map(({ status }) => status).sort(), [201, 503, 503, 503, 503]);
  const short = await ask("600000");
  assertEquals([short.status, short.headers.get("retry-after") !== null], [503, true]);
  // a reservation that is committed while the treasury looks may count twice until it looks again
  await until(async () => (await ask("300000")).status === 201);
  await until(async () => {
    const signed = await rig.sql`SELECT FROM book.outgoing WHERE status = 'signed'`;
    return signed.length === 2;
  });
  // what two nodes reserved at once: the second one's waits in the queue, in sight
  await rig.sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    SELECT 'out_zz_waits', merchant_id, 'payout', 'wd_waits', network, currency, 500000, destination, 'queued', now() - interval '90 seconds', now()
    FROM book.outgoing LIMIT 1`;
  await until(async () => {
    const [row] = await rig.sql`SELECT FROM book.outgoing WHERE reason = 'waiting for USDT'`;
    return row !== undefined;
  });
  const { body } = await rig.api.call("GET", "/api/admin/treasury", { key: admin });
  const [trx] = body.networks;
  const group = trx.waiting.find(({ status }: { status: string }) => status === "queued");
  assertEquals([group.reason, group.count, group.amount], ["waiting for USDT", 1, "500000"]);
  assert(trx.oldestQueuedSeconds >= 90);
  assertStringIncludes(trx.balances[0].liquidity, "-");
  await rig.sql`DELETE FROM book.outgoing WHERE id = 'out_zz_waits'`;
  await rig.mineUntil("both are paid", async () => {
    const [row] = await rig.sql<{ n: number }[]>`
      SELECT count(*)::int AS n FROM book.withdrawal WHERE status = 'CONFIRMED'`;
    return row?.n === 2;
  });
});

test("a payout to another merchant's deposit address is paid once on the chain and credited once by the scan", async () => {
  await using rig = await openTreasuryRig();
  const [payer, receiver] = [await rig.merchant("1000"), await rig.merchant("0.000001")];
  const { body: issued } = await rig.api.call("POST", "/api/deposit-address", {
    key: receiver.key,
    body: { network: "TRX", identifier: "supplier", referenceId: "invoice-7" },
  });
  const deposits = async () =>
    (await rig.api.call("GET", "/api/deposits?referenceId=invoice-7", { key: receiver.key })).body
      .deposits;
  const id = await rig.withdraw(payer.key, "100", issued.address);
  await rig.mineUntil("the receiver sees it", async () => (await deposits()).length > 0);
  assertEquals((await deposits())[0].status, "PENDING");
  // the blocks that showed it are dropped, and the same bytes land again
  await rig.control("/dev/reorg", { depth: 1 });
  await rig.mineUntil(
    "it is final for both",
    async () =>
      await statusOf(rig, id) === "CONFIRMED" && (await deposits())[0].status === "CONFIRMED",
  );
  const { txid } = (await rig.sql<{ txid: string }[]>`
    SELECT txid FROM book.withdrawal WHERE id = ${id}`)[0] ?? { txid: "none" };
  const [deposit, ...others] = await deposits();
  assertEquals(others, []);
  assertEquals([deposit.amount, deposit.fee, deposit.commission, deposit.metadata.txHash], [
    "100",
    "0.5",
    "0",
    txid,
  ]);
  // nothing left the wallet that the books do not know, so that signing goes on, and it is swept
  assertEquals((await rig.sql`SELECT FROM hub.unknown_spend`).length, 0);
  const items = await rig.sql`SELECT txid FROM book.sweep_item`;
  assertEquals(items.map((item) => item["txid"]), [txid]);
  const next = await rig.withdraw(payer.key, "10", issued.address);
  await rig.mineUntil("the next is paid", async () => await statusOf(rig, next) === "CONFIRMED");
  await until(async () => (await deposits()).length === 2);
  await rig.mineUntil("it is credited", async () => (await deposits())[0].status === "CONFIRMED");
  assertEquals((await deposits())[0].fee, "0", "an address is activated once");
  assertEquals(await booksFaults(rig.sql), []);
});
