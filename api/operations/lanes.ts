/**
 * Administrators' commands for chains whose wallets number their transactions: a transaction of the hot wallet that
 * the service did not sign is looked at, adopted or told to be another's, one of its own is taken out of use.
 *
 * @module
 */

import { z } from "zod";
import { adoptHand, disown, showHand } from "../../actors/treasury/adopt_hand.ts";
import { askToCancel } from "../../ledger/lanes/cancel.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { hubAudit, lookAgain, recordRefusal } from "../http/admin_command.ts";
import { type Answer, ok } from "../http/answer.ts";
import { cannotBelieveAs, whyStopped } from "../http/checks.ts";
import type { ApiContext } from "../http/context.ts";
import { conflict, notFound, unavailable } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { adminRoute } from "../http/route.ts";

const reason = z.string().trim().min(1).max(500);

const nonce = z.int().min(0);
/** A transaction that is listed as the hot wallet's. */
const named = { network: f.network, txid: z.string().min(1).max(200) };

const ADOPT = "treasury.adopt";
const DISOWN = "treasury.not_ours";
const CANCEL = "treasury.cancel";

const SENDER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

const senderShown = z.object({
  sender: eg(
    z.string().meta({ description: "Address whose signature the transaction carries" }),
    SENDER,
  ),
  isHotWallet: eg(z.boolean(), true),
  nonce: eg(nonce.meta({ description: "The number that it has taken" }), 42),
  promisedTo: eg(
    z.array(z.string()).meta({
      description:
        "Transfers of the service with that number: they are signed anew when it is adopted",
    }),
    [f.exampleId("out")],
  ),
});

export const showSender = adminRoute({
  at: "POST /api/admin/treasury/sender",
  summary:
    "Look at who has sent a transaction that is listed as the hot wallet's; nothing is changed",
  description:
    "Sender and number are what the transaction's own bytes prove, not what a node says of them.",
  anyOf: ["admin:treasury"],
  body: z.strictObject(named),
  responses: {
    200: { description: "Sender and number, as its bytes prove them", schema: senderShown },
  },
  errors: ["record_not_found", "conflict"],
  handler: async ({ body: { network, txid } }, context) => {
    const asked = askOf(context, network, txid);
    if (asked === null) return unavailable(`${network} is not configured here.`);
    const outcome = await showHand(asked.deps, network, asked.txid, context.askTimeoutMs);
    if (outcome.kind !== "shown") return answerTo(outcome);
    const { kind: _, ...shown } = outcome;
    return ok({ ...shown, promisedTo: [...shown.promisedTo] });
  },
});

const adopted = z.object({
  success: z.literal(true),
  nonce: eg(nonce.meta({ description: "The number that it has taken" }), 42),
});

export const adoptTransaction = adminRoute({
  at: "POST /api/admin/treasury/adopt",
  summary: "Adopt a transaction of the hot wallet that the service did not sign",
  description:
    "On networks whose wallets number their transactions nothing is signed while one is listed " +
    "that the books do not know. Adopting it says that its number is used: what the service had " +
    "signed with that can be in no block any more and is signed anew. Tokens that it moved are " +
    "decided apart (`deno task admin failover`). One of a deposit address keeps that address alone from being " +
    "swept; it is on no list and is adopted by its id, where the service has signed for the address before. The number is the one that " +
    "`POST /api/admin/treasury/sender` has shown; compare it with a block explorer.",
  anyOf: ["admin:treasury"],
  body: z.strictObject({ ...named, nonce: eg(nonce, 42), reason }),
  responses: { 200: { description: "It is adopted", schema: adopted } },
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { network, nonce, reason } = body;
    const asked = askOf(context, network, body.txid);
    if (asked === null) return unavailable(`${network} is not configured here.`);
    const { deps, txid } = asked;
    const accountable = { ...request, merchantId: null };
    const after = { network, nonce, reason };
    const audit = hubAudit(accountable, ADOPT, txid, context, null, after);
    const adoption = { txid, nonce, reason };
    const { mayStillAsk, refusal } = lookAgain(request);
    const asking = { ...deps, mayStillAsk };
    const outcome = await adoptHand(asking, network, adoption, audit, context.askTimeoutMs);
    if (outcome.kind === "asker_ended") return refusal();
    if (outcome.kind === "adopted") {
      for (const merchantId of outcome.notified) context.merchants.wake(merchantId);
      return ok({ success: true, nonce: outcome.nonce });
    }
    await recordRefusal(accountable, ADOPT, txid, whyOf(outcome), context);
    return outcome.kind === "other_nonce"
      ? conflict(`Its number is ${outcome.nonce}; look at it again before you adopt it.`)
      : answerTo(outcome);
  },
});

const disowned = z.object({
  success: z.literal(true),
  sender: eg(
    z.string().nullable().meta({
      description:
        "Address whose signature it carries; null: the block that it was listed for is without it",
    }),
    SENDER,
  ),
});

export const disownTransaction = adminRoute({
  at: "POST /api/admin/treasury/not-ours",
  summary: "Take a transaction off the list that the hot wallet has not sent",
  description:
    "A node's word for a sender is bound to nothing. The verdict is given only where the transaction's " +
    "signature is another's, or where the final block that it was listed for is without it.",
  anyOf: ["admin:treasury"],
  body: z.strictObject({ ...named, reason }),
  responses: { 200: { description: "It is off the list", schema: disowned } },
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { network, reason } = body;
    const asked = askOf(context, network, body.txid);
    if (asked === null) return unavailable(`${network} is not configured here.`);
    const { deps, txid } = asked;
    const accountable = { ...request, merchantId: null };
    const audit = hubAudit(accountable, DISOWN, txid, context, null, { network, reason });
    const { mayStillAsk, refusal } = lookAgain(request);
    const asking = { ...deps, mayStillAsk };
    const outcome = await disown(asking, network, txid, reason, audit, context.askTimeoutMs);
    if (outcome.kind === "asker_ended") return refusal();
    if (outcome.kind === "disowned") return ok({ success: true, sender: outcome.sender });
    await recordRefusal(accountable, DISOWN, txid, whyOf(outcome), context);
    return outcome.kind === "ours"
      ? conflict("Its signature is the hot wallet's, and its block has it: adopt it.")
      : answerTo(outcome);
  },
});

/** The parts of a command about a listed transaction; null: its network is not configured here. */
function askOf(context: ApiContext, network: Network, text: string) {
  const chain = context.chains.get(network);
  if (chain === undefined) return null;
  const deps = { sql: context.sql, chain, stopped: whyStopped(context, network) };
  return { deps, txid: chain.transactionId(text) ?? text };
}

type Unknown = Exclude<Awaited<ReturnType<typeof showHand>>, { readonly kind: "shown" }>;

function whyOf(outcome: Unknown | { readonly kind: "other_nonce" | "ours" }): string {
  return outcome.kind === "refused" ? outcome.why : outcome.kind;
}

function answerTo(outcome: Unknown): Answer {
  switch (outcome.kind) {
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
