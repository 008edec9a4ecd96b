/**
 * Administrators' commands for chains whose wallets number their transactions: a transaction of the hot wallet that
 * the service did not sign is adopted, one of its own is taken out of use.
 *
 * @module
 */

import { z } from "zod";
import { adoptHand, type AdoptionOutcome } from "../../actors/treasury/adopt_hand.ts";
import { askToCancel } from "../../ledger/lanes/cancel.ts";
import { hubAudit, recordRefusal } from "../http/admin_command.ts";
import { type Answer, ok } from "../http/answer.ts";
import { cannotBelieveAs, whyStopped } from "../http/checks.ts";
import { conflict, notFound, unavailable } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { adminRoute } from "../http/route.ts";

const reason = z.string().trim().min(1).max(500);

const adopted = z.object({
  success: z.literal(true),
  nonce: eg(z.int().min(0).meta({ description: "The number that it has taken" }), 42),
});

const ADOPT = "treasury.adopt";
const CANCEL = "treasury.cancel";

export const adoptTransaction = adminRoute({
  at: "POST /api/admin/treasury/adopt",
  summary: "Adopt a transaction of the hot wallet that the service did not sign",
  description:
    "On networks whose wallets number their transactions nothing is signed while one is listed " +
    "that the books do not know. Adopting it says that its number is used: what the service had " +
    "signed with that can be in no block any more and is signed anew. Tokens that it moved are " +
    "decided apart (`deno task admin failover`).",
  anyOf: ["admin:treasury"],
  body: z.strictObject({ network: f.network, txid: z.string().min(1).max(200), reason }),
  responses: { 200: { description: "It is adopted", schema: adopted } },
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { sql, chains, merchants, askTimeoutMs } = context;
    const { network, reason } = body;
    const chain = chains.get(network);
    if (chain === undefined) return unavailable(`${network} is not configured here.`);
    const txid = chain.transactionId(body.txid) ?? body.txid;
    const accountable = { ...request, merchantId: null };
    const audit = hubAudit(accountable, ADOPT, txid, context, null, { network, reason });
    const deps = { sql, chain, stopped: whyStopped(context, network) };
    const outcome = await adoptHand(deps, network, txid, reason, audit, askTimeoutMs);
    if (outcome.kind === "adopted") {
      for (const merchantId of outcome.notified) merchants.wake(merchantId);
    } else {
      const why = outcome.kind === "refused" ? outcome.why : outcome.kind;
      await recordRefusal(accountable, ADOPT, txid, why, context);
    }
    return answerTo(outcome);
  },
});

function answerTo(outcome: AdoptionOutcome): Answer {
  switch (outcome.kind) {
    case "adopted":
      return ok({ success: true, nonce: outcome.nonce });
    case "refused":
      return outcome.why === "decided" ? notFound : conflict(
        "The wallet has earlier transactions that are not adopted yet; adopt them first.",
      );
    case "not_numbered":
      return conflict("Wallets of this network do not number their transactions.");
    case "unread":
      return unavailable("No node shows the transaction in a solid block; ask again.");
    case "in_doubt":
      return cannotBelieveAs(outcome);
    default: {
      const never: never = outcome;
      return never;
    }
  }
}

const cancelAsked = z.object({ success: z.literal(true) });

export const cancelTransfer = adminRoute({
  at: "POST /api/admin/treasury/cancel",
  summary: "Take a signed transfer out of use before a block shows it",
  description:
    "On networks whose wallets number their transactions it is replaced by one that moves " +
    "nothing. Whichever of the two a final block shows decides: a withdrawal is refunded and FAILED, or " +
    "paid all the same.",
  anyOf: ["admin:treasury"],
  body: z.strictObject({
    id: eg(
      z.string().min(1).max(100).meta({ description: "Of the withdrawal, or of the transfer" }),
      f.exampleId("wd"),
    ),
    reason,
  }),
  responses: { 200: { description: "It is asked for", schema: cancelAsked } },
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { id, reason } = body;
    const accountable = { ...request, merchantId: null };
    const audit = hubAudit(accountable, CANCEL, id, context, null, { reason });
    const refused = await askToCancel(context.sql, id, audit);
    if (refused === null) return ok({ success: true });
    await recordRefusal(accountable, CANCEL, id, refused, context);
    switch (refused) {
      case "unknown":
        return notFound;
      case "not_numbered":
        return conflict("It is not signed, or its network's wallets do not number transactions.");
      case "seen":
        return conflict("A block shows it already.");
      case "asked":
        return conflict("It was asked for before.");
      default: {
        const never: never = refused;
        return never;
      }
    }
  },
});
