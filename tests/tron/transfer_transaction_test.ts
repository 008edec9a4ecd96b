import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { addressFromLogHex, addressToHex } from "../../chains/tron/address.ts";
import {
  buildTransferTransaction,
  signTransactionId,
  type TransactionHeader,
  transferArguments,
} from "../../chains/tron/pay/transfer_transaction.ts";
import { loadTronweb, testWithTronweb } from "./support/tronweb_offline.ts";

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array) => bytesToHex(array));
const address = hex(20).map(addressFromLogHex);
const header: fc.Arbitrary<TransactionHeader> = fc.record({
  refBlockBytes: hex(2),
  refBlockHash: hex(8),
  expiration: fc.integer({ min: 1, max: 2 ** 47 }),
  timestamp: fc.integer({ min: 1, max: 2 ** 47 }),
  feeLimit: fc.integer({ min: 1, max: 15_000_000_000 }),
});
const privateKey = fc.uint8Array({ minLength: 32, maxLength: 32 })
  .filter((key) => secp256k1.utils.isValidSecretKey(key));

/** The header in tronweb's names. */
function blockHeader(fields: TransactionHeader) {
  return {
    ref_block_bytes: fields.refBlockBytes,
    ref_block_hash: fields.refBlockHash,
    expiration: fields.expiration,
    timestamp: fields.timestamp,
  };
}

testWithTronweb("a token transfer is byte for byte what tronweb builds", async () => {
  const { tronweb } = await loadTronweb();
  const units = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
  await fc.assert(
    fc.asyncProperty(
      address,
      address,
      address,
      units,
      header,
      async (from, to, token, n, fields) => {
        const ours = buildTransferTransaction({
          kind: "token",
          owner: addressToHex(from),
          contract: addressToHex(token),
          to: addressToHex(to),
          units: n,
        }, fields);
        const { transaction: theirs } = await tronweb.transactionBuilder.triggerSmartContract(
          token,
          "transfer(address,uint256)",
          {
            feeLimit: fields.feeLimit,
            callValue: 0,
            txLocal: true,
            blockHeader: blockHeader(fields),
          },
          [{ type: "address", value: to }, { type: "uint256", value: n.toString() }],
          from,
        );
        assertEquals(ours.txid, theirs.txID);
        assertEquals(ours.json["raw_data_hex"], theirs.raw_data_hex);
        assertEquals(ours.json["raw_data"], JSON.parse(JSON.stringify(theirs.raw_data)));
        assertEquals(ours.json["visible"], theirs.visible);
      },
    ),
    { numRuns: 150 },
  );
});

testWithTronweb("a transfer of TRX is byte for byte what tronweb builds", async () => {
  const { tronweb } = await loadTronweb();
  const sun = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
  await fc.assert(
    fc.asyncProperty(address, address, sun, header, async (from, to, amount, fields) => {
      fc.pre(from !== to);
      const ours = buildTransferTransaction({
        kind: "native",
        owner: addressToHex(from),
        to: addressToHex(to),
        sun: amount,
      }, { ...fields, feeLimit: 0 });
      const theirs = await tronweb.transactionBuilder.sendTrx(to, amount, from, {
        blockHeader: blockHeader(fields),
      });
      assertEquals(ours.txid, theirs.txID);
      assertEquals(ours.json["raw_data_hex"], theirs.raw_data_hex);
      assertEquals(ours.json["raw_data"], JSON.parse(JSON.stringify(theirs.raw_data)));
    }),
    { numRuns: 100 },
  );
});

testWithTronweb(
  "delegating energy and undelegating it is byte for byte what tronweb builds",
  async () => {
    const { tronweb } = await loadTronweb();
    const sun = fc.integer({ min: 1_000_000, max: Number.MAX_SAFE_INTEGER });
    await fc.assert(
      fc.asyncProperty(address, address, sun, header, async (from, to, amount, fields) => {
        fc.pre(from !== to);
        const ends = { owner: addressToHex(from), to: addressToHex(to), sun: amount };
        const builder = tronweb.transactionBuilder;
        const options = { blockHeader: blockHeader(fields) };
        const pairs = [
          [
            buildTransferTransaction({ kind: "energy", action: "delegate", ...ends }, {
              ...fields,
              feeLimit: 0,
            }),
            await builder.delegateResource(amount, to, "ENERGY", from, false, undefined, options),
          ],
          [
            buildTransferTransaction({ kind: "energy", action: "undelegate", ...ends }, {
              ...fields,
              feeLimit: 0,
            }),
            await builder.undelegateResource(amount, to, "ENERGY", from, options),
          ],
        ] as const;
        for (const [ours, theirs] of pairs) {
          assertEquals(ours.txid, theirs.txID);
          assertEquals(ours.json["raw_data_hex"], theirs.raw_data_hex);
        }
      }),
      { numRuns: 60 },
    );
  },
);

testWithTronweb("a signature is byte for byte tronweb's, and names its signer", async () => {
  const { TronWeb, tronweb } = await loadTronweb();
  await fc.assert(
    fc.asyncProperty(privateKey, address, header, async (key, to, fields) => {
      const from = TronWeb.address.fromPrivateKey(bytesToHex(key));
      if (from === false) throw new Error("Cannot make an address as the key is invalid");
      const { txid, json } = buildTransferTransaction({
        kind: "native",
        owner: addressToHex(from),
        to: addressToHex(to),
        sun: 1,
      }, { ...fields, feeLimit: 0 });
      const signature = signTransactionId(txid, key);
      const transaction = await tronweb.transactionBuilder.sendTrx(to, 1, from, {
        blockHeader: blockHeader(fields),
      });
      const signed = await tronweb.trx.sign(transaction, bytesToHex(key));
      assertEquals([signature], signed.signature.map((text) => text.toLowerCase()));
      assertEquals(json["txID"], signed.txID);
      assertEquals(await tronweb.trx.ecRecover({ ...signed, signature: [signature] }), from);
    }),
    { numRuns: 25 },
  );
});

Deno.test("an amount beyond 256 bits is refused", () => {
  assertThrows(() => transferArguments(`41${"00".repeat(20)}`, 2n ** 256n), RangeError);
  assertThrows(() => transferArguments(`41${"00".repeat(20)}`, -1n), RangeError);
});

Deno.test("a number that is no whole number never reaches the bytes", () => {
  const fields = { refBlockBytes: "0001", refBlockHash: "00".repeat(8), timestamp: 1, feeLimit: 0 };
  const owner = `41${"00".repeat(20)}`;
  for (const expiration of [1.5, -1, Number.NaN, 2 ** 53]) {
    const build = () =>
      buildTransferTransaction({ kind: "native", owner, to: owner, sun: 1 }, {
        ...fields,
        expiration,
      });
    assertThrows(build, RangeError);
  }
});
