import { assert } from "@std/assert";
import {
  DELEGATION_BYTES,
  NATIVE_TRANSFER_BYTES,
  TOKEN_TRANSFER_BYTES,
} from "../../chains/tron/read/estimate_fee.ts";
import {
  buildTransferTransaction,
  type TransferCall,
} from "../../chains/tron/pay/transfer_transaction.ts";

const owner = `41${"a1".repeat(20)}`;
const to = `41${"b2".repeat(20)}`;
const contract = `41${"c3".repeat(20)}`;
/** All there is of TRX, in sun, and far more than any token has. */
const MOST_SUN = 9_000_000_000_000_000;

/** Bytes that the chain counts: with the signature, and room for a result. */
function bytesOf(call: TransferCall): number {
  const { json } = buildTransferTransaction(call, {
    refBlockBytes: "28c0",
    refBlockHash: "9eabbe133123b34c",
    expiration: 1_777_447_218_000,
    timestamp: 1_777_447_160_779,
    feeLimit: call.kind === "token" ? 150_000_000 : 0,
  });
  const raw = String(json.raw_data_hex).length / 2;
  return raw + (raw < 128 ? 2 : 3) + 67 + 64;
}

Deno.test("no transaction of ours has more bytes than its fee was estimated with, nor many fewer", () => {
  const cases: readonly (readonly [string, number, TransferCall])[] = [
    ["token", TOKEN_TRANSFER_BYTES, { kind: "token", owner, to, contract, units: 1n << 255n }],
    ["coin", NATIVE_TRANSFER_BYTES, { kind: "native", owner, to, sun: MOST_SUN }],
    ["delegation", DELEGATION_BYTES, {
      kind: "energy",
      action: "delegate",
      owner,
      to,
      sun: MOST_SUN,
    }],
    ["its end", DELEGATION_BYTES, {
      kind: "energy",
      action: "undelegate",
      owner,
      to,
      sun: MOST_SUN,
    }],
  ];
  for (const [what, estimated, call] of cases) {
    const bytes = bytesOf(call);
    assert(bytes <= estimated && estimated - bytes <= 10, `${what}: ${bytes} of ${estimated}`);
  }
});
