import type { TransferFinding } from "../../../ledger/watcher/findings.ts";
import { amount, SOMEWHERE } from "../../support/books.ts";

/** A transfer of 700 USDT in block 5 to an address of a merchant, with some of its fields as given. */
export function transferFinding(
  merchantId: string,
  txid: string,
  fields: Partial<TransferFinding> = {},
): TransferFinding {
  return {
    merchantId,
    addressId: "adr_1",
    txid,
    logIndex: 0,
    currency: "USDT",
    amount: amount("700"),
    from: SOMEWHERE,
    to: "receiver",
    height: 5,
    hash: "block 5",
    diesAfter: Number.MAX_SAFE_INTEGER,
    expiresAt: 4_102_444_800_000,
    ...fields,
  };
}
