/**
 * Transfers of the service itself in every state: sweeps with verdicts, their coin and energy, the
 * cold wallet; and what a failover leaves.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { declareFailover, endHolds } from "../../ledger/failover/holds.ts";
import { compareHistory, recordLostCommits } from "../../ledger/failover/history.ts";
import { decideSpends } from "../../ledger/failover/spend_verdicts.ts";
import {
  closeKnownSpends,
  findUndecided,
  recordUnknownSpends,
} from "../../ledger/failover/unknown_spends.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { recordSweepItems } from "../../ledger/sweeps/items.ts";
import { findSweepAddress } from "../../ledger/sweeps/sweep_addresses.ts";
import { readSweepFacts } from "../../ledger/sweeps/sweep_facts.ts";
import { writeStep } from "../../ledger/sweeps/steps.ts";
import {
  readUnexpectedSweep,
  type SweepVerdict,
  writeOffItems,
  writeSweepVerdict,
} from "../../ledger/sweeps/verdicts.ts";
import { queueCold } from "../../ledger/treasury/hot_wallet.ts";
import { pay, settled } from "../contract/support/chain.ts";
import { issueAddress, openShop, type Shop } from "../contract/support/shop.ts";
import { addressOf, HOT_WALLET, type TestApi } from "../support/api.ts";
import { amount, SOMEWHERE } from "../support/books.ts";
import { end, nextTxid, sign, withdraw } from "./make_payments.ts";

const PLATFORM = "mer_platform";
const COLD_WALLET = addressOf(0xc01d);

function audit(action: string, subject: string) {
  return {
    id: newId("aud"),
    merchantId: null,
    actor: "operator",
    action,
    subject,
    requestId: null,
  };
}

/** A customer pays; the scan has noted the transfer to be swept. */
async function payAndNote(api: TestApi, shop: Shop, address: string): Promise<void> {
  const txid = await pay(api, shop.id, address, "100");
  await recordSweepItems(api.sql, "TRX", [{
    merchantId: shop.id,
    addressId: "",
    txid,
    logIndex: 0,
    currency: "USDT",
    amount: amount("100"),
    from: "somebody",
    to: address,
    height: 7,
    diesAfter: 0,
    expiresAt: 0,
  }]);
}

async function targetAt({ sql }: TestApi, address: string) {
  const target = await findSweepAddress(sql, "TRX", address, "USDT");
  assert(target !== null, `nothing to sweep at ${address}`);
  return target;
}

/** Queues the next transfer for an address; answers its id. */
async function step(
  api: TestApi,
  address: string,
  kind: "sweep" | "gas" | "delegation" | "reclaim",
): Promise<string> {
  const target = await targetAt(api, address);
  const { open: items } = await readSweepFacts(api.sql, target);
  const outgoingId = newId("out");
  const written = await writeStep(api.sql, target, {
    outgoingId,
    kind,
    amount: amount("100"),
    hotWallet: HOT_WALLET,
    feePayer: "wallet",
    items: kind === "sweep" ? items : [],
    reason: kind === "sweep" ? "in_flight" : "waiting_gas",
    detail: "",
    pollMs: 60_000,
  });
  assert(written, `cannot plan ${kind}`);
  return outgoingId;
}

/** Sweeps that are queued, signed, paid, failed, and settled by each verdict; their coin and energy. */
export async function makeSweeps(api: TestApi): Promise<void> {
  const shop = await openShop(api);
  let customers = 0;
  const address = async () => {
    const fresh = await issueAddress(shop, `customer-${++customers}`);
    await payAndNote(api, shop, fresh);
    return fresh;
  };
  const signed = async (at: string, kind: Parameters<typeof step>[2]) =>
    await sign(api, await step(api, at, kind), PLATFORM);

  const { body } = await shop.get(`/api/merchants/${shop.id}/top-up-address?network=TRX`);
  await payAndNote(api, shop, body.address);
  await end(api, await signed(body.address, "sweep"), "paid");
  await settled(api, shop.id);
  const failing = await address();
  await end(api, await signed(failing, "gas"), "paid");
  await end(api, await signed(failing, "delegation"), "paid");
  await end(api, await signed(failing, "sweep"), "failed");
  await signed(failing, "reclaim");
  await step(api, await address(), "gas");
  await step(api, await address(), "delegation");
  await signed(await address(), "sweep");
  await step(api, await address(), "sweep");
  const verdicts: readonly (readonly [SweepVerdict, string, string])[] = [
    ["moved", "100", "100"],
    ["nothing_moved", "0", "0"],
    ["lost", "100", "0"],
  ];
  for (const [verdict, taken, arrived] of verdicts) {
    const at = await address();
    const id = await step(api, at, "sweep");
    await end(api, await sign(api, id, PLATFORM), "unexpected");
    const sweep = await readUnexpectedSweep(api.sql, id);
    assert(sweep !== null);
    const settledBy = await writeSweepVerdict(api.sql, {
      sweep,
      address: at,
      verdict,
      taken: amount(taken),
      arrived: amount(arrived),
      reason: "looked at it",
    }, audit("sweep.settle", id));
    assert(settledBy !== null);
    if (verdict !== "lost") continue;
    const target = await targetAt(api, at);
    const { open: items } = await readSweepFacts(api.sql, target);
    const isWritten = await writeOffItems(api.sql, target, {
      items,
      amount: amount("100"),
      unexplained: amount("0"),
      balance: amount("0"),
      height: 9,
      reason: "lost",
    }, audit("sweep.write-off", at));
    assert(isWritten);
  }
  // one waits for an administrator
  const open = await step(api, await address(), "sweep");
  await end(api, await sign(api, open, PLATFORM), "unexpected");
  const cold = {
    outgoingId: newId("out"),
    network: "TRX" as const,
    currency: "USDT" as const,
    amount: amount("1000"),
    destination: COLD_WALLET,
  };
  assert(await queueCold(api.sql, cold));
}

/** Money that left wallets unknown to the books, with each verdict on it; one is open, on a test network. */
export async function makeUnknownSpends(api: TestApi): Promise<void> {
  const { sql } = api;
  const [withdrawal] = await sql<{ id: string; merchant_id: string }[]>`
    SELECT id, merchant_id FROM book.withdrawal WHERE status = 'CONFIRMED' ORDER BY id LIMIT 1`;
  const of = { merchantId: withdrawal?.merchant_id ?? "", withdrawalId: withdrawal?.id ?? "" };
  const verdicts = [
    null,
    { kind: "booked" as const, ...of },
    { kind: "matched" as const, ...of },
    { kind: "written_off" as const, reason: "its order is lost" },
  ];
  const spend = async (
    to: string,
    { isHarmless = false, network = "TRX_SHASTA" as Network, txid = nextTxid() } = {},
  ) => {
    await recordUnknownSpends(sql, network, [{
      txid,
      logIndex: 0,
      height: 8,
      time: Date.now(),
      wallet: "hot",
      from: HOT_WALLET,
      to,
      currency: "USDT",
      amount: amount("3"),
      fee: amount("1"),
      isHarmless,
    }]);
    return txid;
  };
  await sql`UPDATE hub.wallet SET cold_wallet = ${COLD_WALLET} WHERE network = 'TRX_SHASTA'`;
  await spend(HOT_WALLET, { isHarmless: true });
  await spend(COLD_WALLET);
  for (const verdict of verdicts) {
    const txid = await spend(addressOf(0xabc));
    if (verdict === null) continue;
    const found = await findUndecided(sql, txid);
    assertEquals(
      await decideSpends(sql, found, verdict, {
        ...audit("failover.decide", txid),
        before: null,
        after: null,
      }),
      1,
    );
  }
  const shop = await openShop(api, { funds: "100" });
  const { outgoingId } = await withdraw(api, shop);
  const txid = await sign(api, outgoingId, shop.id);
  await spend(SOMEWHERE, { network: "TRX", txid });
  await end(api, txid, "paid");
  await settled(api, shop.id);
  assertEquals(await closeKnownSpends(sql, "TRX"), [txid]);
}

/** A hold that was declared and ended, with what was lost, and one that was found and is open. */
export async function makeHolds(api: TestApi): Promise<void> {
  const { sql } = api;
  const id = newId("fov");
  const why = { ...audit("failover.declare", id), before: null, after: null };
  await declareFailover(sql, id, 10, "a copy was restored", why);
  const record = {
    merchantId: "mer_lost_order",
    referenceId: null,
    network: null,
    currency: null,
    amount: null,
    destination: null,
  };
  const kinds = ["withdrawal", "address", "other"] as const;
  const records = kinds.map((kind) => ({ ...record, kind, recordId: `${kind}_1` }));
  const lost = await recordLostCommits(sql, [{ commitId: "cmt_1", at: Date.now(), records }]);
  assertEquals(lost.length, 3);
  const done = { ...audit("failover.end", id), before: null, after: null };
  assertEquals(await endHolds(sql, [], "all is compared", done), null);
  await sql`UPDATE hub.database_history SET timeline = timeline + 1`;
  assert((await compareHistory(sql, newId("fov"), 10)).opened);
}
