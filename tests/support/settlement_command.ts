import type { CreateSettlement } from "../../actors/merchant/messages.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { amount, NO_ESTIMATE, SOMEWHERE } from "./books.ts";

/** A settlement command; 10 USDT on TRX to {@linkcode SOMEWHERE} unless told otherwise. */
export function settlementCommand(fields: Partial<CreateSettlement> = {}): CreateSettlement {
  return {
    type: "create-settlement",
    at: Date.now(),
    settlementId: newId("stl"),
    withdrawalId: newId("wd"),
    transactionId: newId("txn"),
    outgoingId: newId("out"),
    chargeIds: [newId("chg"), newId("chg")],
    currency: "USDT",
    network: "TRX",
    amount: amount("10"),
    destination: SOMEWHERE,
    fromAddress: null,
    dynamicFee: NO_ESTIMATE,
    idempotencyKey: null,
    bodyHash: null,
    giveUp: null,
    ...fields,
  };
}
