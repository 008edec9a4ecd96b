import { assertEquals, assertMatch } from "@std/assert";
import { testsOfOneApi } from "../support/api.ts";

const shared = testsOfOneApi("named transactions");

const DEPOSIT = { amount: "12.5", currency: "USDT", network: "TRX", source: "bank" };
const TXID = "0123456789abcdef".repeat(4);

/** Metadata that names a transaction elsewhere than under `txHash`, and the path of what is refused. */
const MISNAMED: readonly (readonly [object, ...string[]])[] = [
  [{ txhash: TXID }, "txhash"],
  [{ TxHash: TXID }, "TxHash"],
  [{ tx_hash: TXID }, "tx_hash"],
  [{ "tx-hash": TXID }, "tx-hash"],
  [{ "txHash ": TXID }, "txHash "],
  [{ "\ttxHash": TXID }, "\ttxHash"],
  [{ txHahs: TXID }, "txHahs"],
  [{ txnHash: TXID }, "txnHash"],
  [{ txId: TXID }, "txId"],
  [{ txid: `https://tronscan.org/#/transaction/${TXID}` }, "txid"],
  [{ transactionHash: TXID }, "transactionHash"],
  [{ transaction_hash: [TXID] }, "transaction_hash"],
  [{ txHash: null, txhash: TXID }, "txhash"],
  [{ invoice: 7, tx_hash: "wire 77" }, "tx_hash"],
  [{ hash: ` 0x${TXID}` }, "hash"],
  [{ transactionId: TXID }, "transactionId"],
  [{ depositTxHash: TXID }, "depositTxHash"],
  [{ payment: { txHash: TXID } }, "payment", "txHash"],
  [{ payments: [{ txid: TXID }] }, "payments", "0", "txid"],
  [{ transaction: { reference: TXID } }, "transaction"],
];

/** Metadata that names none, or names it where it is read. */
const OTHERS: readonly object[] = [
  { transactionId: "order 77", hash: "9f86d081", txn: 5, transaction: { id: "t-1" } },
  { tx_hash: null, txid: null },
  { payment: { txHash: "none yet" }, note: TXID, invoiceSha256: TXID },
  { txHash: TXID, tx_hash: "as above", refund: { txHash: TXID } },
];

shared(
  "a deposit by hand whose metadata has a transaction under a name that looks like txHash is refused by that name: it would claim nothing",
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
