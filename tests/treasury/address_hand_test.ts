import { assertEquals } from "@std/assert";
import { adoptHand, showHand } from "../../actors/treasury/adopt_hand.ts";
import { watchAddresses } from "../../ledger/addresses/watched_addresses.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { testDatabase } from "../support/database.ts";
import { sparseBlock } from "../support/paper_family.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addNonce, addWallet, calmLane, lanesOn, numberedChain } from "./support/lane_rig.ts";

const test = testNeeding(DATABASE);
const mayStillAsk = () => Promise.resolve(true);
const AUDIT = {
  id: "aud_1",
  merchantId: null,
  actor: "ana",
  action: "treasury.adopt",
  subject: "x",
  before: null,
  after: null,
  requestId: "req_1",
};
/** An address as events carry it, and as people write it. */
const EVENT = "5".padStart(40, "0");
const ADDRESS = `0x${EVENT}`;

/** A deposit address whose nonce 3 is promised to a sweep, and was used by a transaction that the books do not know. */
async function openAddress(
  sql: Sql,
  sent: Readonly<Record<string, { from: string; nonce: number }>>,
  isSigned = false,
) {
  await addWallet(sql);
  await watchAddresses(sql, [
    { address: ADDRESS, network: "ETH", merchantId: "mer_1", addressId: "adr_1", walletIndex: 5 },
  ]);
  const id = await addNonce(sql, { payer: "5", nonce: 3, isSigned });
  const shown = (txid: string) => ({ txid, success: true, failure: null, fee: 0n as never });
  const block = sparseBlock(6, 5, { transactions: Object.keys(sent).map(shown) });
  const lane = calmLane({
    next: () => Promise.resolve(4),
    sent: (txid) => {
      const one = sent[txid];
      return Promise.resolve(
        one === undefined
          ? null
          : { eventFrom: one.from, nonce: one.nonce, bytes: `bytes of ${txid}` },
      );
    },
  });
  const chain = numberedChain(lane, {
    deriveAddress: () => ADDRESS,
    eventAddress: (address) => address.replace(/^0x/, ""),
    addressOf: (event) => `0x${event}`,
    transaction: (txid) =>
      Promise.resolve({
        kind: "found",
        transaction: { ...shown(txid), transfers: [], height: block.height, time: block.time },
      }),
    async *blocks() {
      yield await Promise.resolve({ kind: "block", block });
    },
  });
  const deps = { sql, chain, stopped: null, mayStillAsk };
  return {
    id,
    chain,
    show: (txid: string) => showHand(deps, "ETH", txid, 5_000),
    adopt: (txid: string, nonce: number, audit = "aud_1") =>
      adoptHand(deps, "ETH", { txid, nonce, reason: "ours" }, { ...AUDIT, id: audit }, 5_000),
    row: async () => {
      const [row] = await sql`SELECT status, nonce::int FROM book.outgoing WHERE id = ${id}`;
      return row;
    },
  };
}

test("a deposit address' transaction that the books do not know is adopted by its signature, and its sweep gets another nonce", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const address = await openAddress(sql, {
    "0xother": { from: EVENT, nonce: 3 },
    "0xnext": { from: EVENT, nonce: 4 },
    "0xfar": { from: EVENT, nonce: 9 },
  });
  assertEquals(await address.show("0xother"), {
    kind: "shown",
    sender: ADDRESS,
    nonce: 3,
    isHotWallet: false,
    promisedTo: [address.id],
  });
  assertEquals(await address.adopt("0xother", 4), { kind: "other_nonce", nonce: 3 });
  assertEquals(await address.adopt("0xfar", 9), { kind: "refused", why: "later" });
  assertEquals(await address.row(), { status: "queued", nonce: 3 }, "nothing was changed");
  assertEquals((await address.adopt("0xother", 3)).kind, "adopted");
  assertEquals(await address.row(), { status: "queued", nonce: null });
  assertEquals(await address.adopt("0xother", 3, "aud_2"), { kind: "refused", why: "decided" });
  assertEquals((await address.adopt("0xnext", 4, "aud_3")).kind, "adopted");
  const { lanes, poll } = lanesOn(sql, address.chain);
  await poll();
  assertEquals([lanes.state?.closed, lanes.room("5")], [0, 1]);
});

test("what another has sent, or the service itself, is not adopted for a deposit address", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const own = "aout_5_0003";
  const address = await openAddress(sql, {
    "0xtheirs": { from: "thief", nonce: 3 },
    [own]: { from: EVENT, nonce: 3 },
  }, true);
  for (const txid of ["0xtheirs", "0xnowhere", own]) {
    assertEquals(await address.adopt(txid, 3), { kind: "refused", why: "decided" }, txid);
  }
});
