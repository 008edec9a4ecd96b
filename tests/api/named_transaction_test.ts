import { assertEquals, assertMatch } from "@std/assert";
import { namedTransaction } from "../../api/deposits/named_transaction.ts";
import { transactionIdOn } from "../../chains/families.ts";
import { testsOfOneApi } from "../support/api.ts";

const shared = testsOfOneApi("named transactions");

const DEPOSIT = { amount: "12.5", currency: "USDT", network: "TRX", source: "bank" };
const TXID = "0123456789abcdef".repeat(4);

const LINK = `https://explorer.example/#/transaction/${TXID.toUpperCase()}?lang=en`;

/** Metadata that names a transaction elsewhere than under `txHash`, and the path of what is refused. */
const MISNAMED: readonly (readonly [object, ...string[]])[] = [
  [{ txhash: TXID }, "txhash"],
  [{ TxHash: TXID }, "TxHash"],
  [{ tx_hash: "wire 77" }, "tx_hash"],
  [{ "tx-hash": 77 }, "tx-hash"],
  [{ "txHash ": { id: 7 } }, "txHash "],
  [{ txHash: null, txhash: "" }, "txhash"],
  [{ txId: TXID }, "txId"],
  [{ transactionHash: TXID }, "transactionHash"],
  [{ invoice: 7, trx: TXID }, "trx"],
  [{ note: TXID.toUpperCase() }, "note"],
  [{ depositHash: ` 0x${TXID}\n` }, "depositHash"],
  [{ proof: LINK }, "proof"],
  [{ proof: `https://mail.example/?to=${encodeURIComponent(LINK)}` }, "proof"],
  [{ note: `paid with ${TXID}.` }, "note"],
  [{ "": `TRX:${TXID}` }, ""],
  [{ txs: [7, TXID] }, "txs", "1"],
  [{ transactions: ["none", LINK] }, "transactions", "1"],
  [{ payment: { txHash: TXID } }, "payment", "txHash"],
  [{ payments: [{ reference: TXID }] }, "payments", "0", "reference"],
  [{ transactions: { [TXID]: "12.5" } }, "transactions", TXID],
];

/** Metadata that names none, or names it where it is read. */
const OTHERS: readonly object[] = [
  { trash: 1, thrash: 1, txCash: "5", txBase: "b", txPath: "/7", txHashes: [], txHas: true },
  { txId: "order-4711", transactionHash: "order-4711", txid: 4711, transaction: { id: "t-1" } },
  { tx_hash: null, txid: null },
  { payment: { txHash: "none yet" } },
  // longer, shorter, and parts of other words
  { a: `${TXID}0`, b: TXID.slice(1), c: `x${TXID}`, d: `${TXID}z`, e: `${TXID}${TXID}` },
  { txHash: TXID, tx_hash: "as above", refund: { txHash: TXID }, note: LINK },
];

shared(
  "a deposit by hand whose metadata has a transaction elsewhere than under txHash is refused by its name there: it would claim nothing",
  async (api) => {
    const { id, key } = await api.addMerchant();
    const create = (metadata: object) =>
      api.call("POST", "/api/deposits", { key, body: { ...DEPOSIT, metadata } });
    for (const [metadata, ...path] of MISNAMED) {
      const { status, body } = await create(metadata);
      assertEquals([status, body.error, body.details?.[0]?.path], [400, "Invalid request data", [
        "metadata",
        ...path,
      ]], JSON.stringify(metadata));
      const [{ message, code }] = body.details;
      assertMatch(message, /Did you mean txHash\?/);
      assertEquals([body.details.length, code], [1, "unrecognized_keys"]);
    }
    const rows = await api.sql`SELECT FROM book.deposit WHERE merchant_id = ${id}`;
    assertEquals(rows.length, 0);
    for (const metadata of OTHERS) {
      assertEquals((await create(metadata)).status, 201, JSON.stringify(metadata));
    }
  },
);

Deno.test("an id is told by the spelling of the deposit's network: where it has a prefix, a digest without it is none", () => {
  const isRefused = (metadata: Record<string, unknown>, network: "ETH" | "BNB" | "TRX") =>
    namedTransaction(metadata, network, { transactionIdOn }) !== null;
  for (const network of ["ETH", "BNB"] as const) {
    assertEquals(isRefused({ proof: `0x${TXID}` }, network), true);
    assertEquals(isRefused({ proof: `https://explorer.example/tx/0x${TXID}#logs` }, network), true);
    assertEquals(
      isRefused({ proof: `?to=https%3A%2F%2Fexplorer.example%2Ftx%2F0x${TXID}` }, network),
      true,
    );
    assertEquals(isRefused({ invoiceSha256: TXID }, network), false);
  }
  assertEquals(isRefused({ invoiceSha256: TXID }, "TRX"), true);
});
