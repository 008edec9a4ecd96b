import { assert, assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import { readCommitments } from "../../ledger/treasury/hot_wallet.ts";
import { addressOf } from "../support/api.ts";
import { amount, booksFaults, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain, paperGas } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { nodeOf } from "../support/node_of.ts";
import { CALM, openTreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);

test("payouts wait in sight for the coin that those under way may burn, and are all paid once it comes", async () => {
  // a payout to a new holder costs some 13 and may burn some 16
  const low = { ...CALM.low, native: amount("20") };
  await using rig = await openTreasuryRig({ coin: "38.9", policy: () => ({ ...CALM, low }) });
  const admin = await rig.api.addKey(null, { permissions: ["admin:read"] });
  const { key } = await rig.merchant("1000");
  for (let n = 0; n < 12; n++) await rig.withdraw(key, "10", addressOf(0xf100 + n));
  const count = async (status: string) => {
    const [row] = await rig.sql<{ all: number; waiting: number }[]>`
      SELECT count(*)::int AS all,
        count(*) FILTER (WHERE reason = 'waiting for the chain''s coin')::int AS waiting
      FROM book.outgoing WHERE status = ${status}`;
    return [row?.all, row?.waiting];
  };
  await until(async () => (await count("queued")).join() === "10,10");
  assertEquals(await count("signed"), [2, 0]);
  // seen by people: what is free, what waits for what, and the alarm, though 38.9 are still there
  const treasury = async () =>
    (await rig.api.call("GET", "/api/admin/treasury", { key: admin })).body.networks[0];
  await until(async () => (await treasury()).low.length === 1);
  const shown = await treasury();
  assertEquals(shown.native, "38.9");
  assert(amount(shown.nativeFree) < amount("20"), shown.nativeFree);
  const waiting = shown.waiting.find(({ status }: { status: string }) => status === "queued");
  assertEquals([waiting.reason, waiting.count], ["waiting for the chain's coin", 10]);

  await rig.mineUntil("two are paid", async () => (await count("final"))[0] === 2);
  await rig.mine(3);
  assertEquals([await count("queued"), await count("signed")], [[10, 10], [0, 0]]);
  await rig.control("/dev/transfer", {
    to: rig.chain.hotWallet,
    amount: "500",
    currency: "TRX",
  });
  await rig.mineUntil("all are paid", async () => (await count("final"))[0] === 12);
  const attempts = await rig.sql<{ outcome: string }[]>`SELECT outcome FROM book.attempt`;
  assertEquals(attempts.map(({ outcome }) => outcome), Array(12).fill("paid"));
  await until(async () => {
    const { body } = await rig.api.call("GET", "/api/withdrawals?status=CONFIRMED", { key });
    return body.pagination.total === 12;
  });
  assertEquals(await booksFaults(rig.sql), []);
});

test("coin is reserved for the fees of what leaves the hot wallet, and not for sweeps, which pay their own", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const queue = (kind: string, currency: string, text: string, wallet = "hot") => {
    const id = newId("out");
    const [payment, merchant] = kind === "payout" ? [`wd_${id}`, "mer_1"] : [null, "mer_platform"];
    return sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, wallet, destination, status, created_at, updated_at)
      VALUES (${id}, ${merchant}, ${kind}, ${payment}, 'TRX', ${currency}, ${text}, ${wallet}, ${id}, 'queued', now(), now())`;
  };
  // fees of 2 at most, of which the limit bounds 1.5
  const chain = paperChain("TRX", {
    estimateFee: () =>
      Promise.resolve({ fee: amount("1"), limit: amount("1.5"), atMost: amount("2") }),
    gas: paperGas({ delegatable: () => Promise.resolve(amount("1000")) }),
  });
  await queue("payout", "USDT", "10");
  await queue("gas", "native", "30");
  await queue("delegation", "native", "700");
  await queue("sweep", "USDT", "50", "17");
  const before = await readCommitments(sql, "TRX");
  assertEquals(before.assets.get("native"), { queued: amount("30"), signed: amount("0") });
  const node = nodeOf(sql, chain);
  await signQueued(chain, node, 100, "merchants");
  await signQueued(chain, node, 100, "internal");
  const { assets } = await readCommitments(sql, "TRX");
  assertEquals(assets.get("USDT"), { queued: amount("0"), signed: amount("10") });
  assertEquals(assets.get("native"), { queued: amount("0"), signed: amount("36") });
  const limits = await sql<{ limit: string }[]>`
    SELECT trim_scale(fee_limit)::text AS limit FROM book.attempt ORDER BY outgoing_id`;
  assertEquals(limits.map(({ limit }) => limit), ["2", "2", "2", "0"]);
});
