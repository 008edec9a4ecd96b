/**
 * Deposits that a merchant claims by their transaction id.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { z } from "zod";
import { claimTransaction } from "../../actors/watcher/claim_transaction.ts";
import { findDepositsOfTransaction, MOST_OF_TRANSACTION } from "../../ledger/deposits.ts";
import { ok } from "../http/answer.ts";
import { cannotBelieve, whyStopped } from "../http/checks.ts";
import { errorAnswer, invalidField, refused, unavailable } from "../http/errors.ts";
import { eg, exampleOf } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { route } from "../http/route.ts";
import { depositSchema, depositView } from "./deposits.ts";

const claimResult = z.object({
  deposits: z.array(depositSchema).meta({
    description: `Your deposits of this transaction, the first ${MOST_OF_TRANSACTION} in the ` +
      "order of its logs; lists have them all",
  }),
  status: eg(
    z.enum(["credited", "already_credited", "not_final", "not_found", "not_ours"]).meta({
      id: "ClaimStatus",
      description:
        "`credited`: something was missing and is booked now. `already_credited`: nothing " +
        "was missing. `not_final`: its block may still change, or was not read yet; it is " +
        "credited when it is. `not_found`: the network does not know it. `not_ours`: it paid " +
        "none of your addresses",
    }),
    "credited",
  ),
}).meta({ id: "ClaimResult" });

export const claimDeposit = route({
  at: "POST /api/deposits/claim",
  summary: "Read a transaction again and credit what of it is yours and missing",
  access: { scope: "own", anyOf: ["write"] },
  rateCategory: "deposits",
  body: z.object({
    network: f.network,
    txHash: z.string().min(1).max(128).meta({
      description: "Transaction id on the network",
      examples: [f.TX_HASH],
    }),
  }),
  responses: {
    200: {
      description: "Transfers that were found, and the deposits that came in by them",
      schema: claimResult,
      examples: {
        credited: exampleOf(claimResult),
        not_found: { deposits: [], status: "not_found" },
      },
    },
  },
  errors: ["invalid_request", "deposits_closed_on_network", "deposits_closed_for_pair"],
  handler: async ({ merchantId, body }, context) => {
    const { sql, merchants, askTimeoutMs } = context;
    const chain = context.chains.get(body.network);
    if (chain === undefined) return errorAnswer("deposits_closed_on_network", body);
    const txid = chain.transactionId(body.txHash);
    if (txid === null) {
      return invalidField("txHash", "Not a transaction id of this network", "invalid_string");
    }
    const release = await context.claimPlaces.take(body.network, merchantId);
    if (release === null) {
      return unavailable("Too many transactions are read just now; nothing was done.");
    }
    const outcome = await claimTransaction(
      {
        sql,
        chain,
        network: body.network,
        stopped: whyStopped(context, body.network),
        wake: (id) => merchants.wake(id),
      },
      merchantId,
      txid,
      askTimeoutMs,
    ).finally(release);
    switch (outcome.status) {
      case "pair_closed": {
        const { currency } = outcome;
        return refused({ code: "deposits_closed_for_pair", currency, network: body.network });
      }
      case "in_doubt":
        logEvent("deposit.claim_doubted", {
          network: body.network,
          txid,
          merchantId,
          reason: outcome.doubt.reason,
        });
        return cannotBelieve(body.network);
      case "recorded":
        return unavailable("The transaction is recorded and will be credited; ask again.");
      case "credited":
      case "already_credited":
      case "not_final":
      case "not_found":
      case "not_ours": {
        const deposits = await findDepositsOfTransaction(sql, merchantId, body.network, txid);
        return ok({ deposits: deposits.map(depositView), status: outcome.status });
      }
      default: {
        const never: never = outcome;
        return never;
      }
    }
  },
});
