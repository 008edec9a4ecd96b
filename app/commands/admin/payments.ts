import { createHmac } from "node:crypto";
import { canonicalJson } from "../../../api/upstream/webhook_event.ts";
import { readCredentials } from "../../development/demo_accounts.ts";
import { type Env, Refused } from "../command.ts";
import { select } from "../table.ts";
import { type AdminContext, type AdminVerb, type Fields, segment, verb } from "./client.ts";

/** Path of a payout that an administrator decides on, by the kind that its id names. */
function payoutPath(id: string | undefined): string {
  if (id?.startsWith("wd_")) return `/api/admin/withdrawals/${segment(id)}`;
  if (id?.startsWith("stl_")) return `/api/admin/settlements/${segment(id)}`;
  throw new Refused(`Cannot decide as this names no withdrawal (wd_) or settlement (stl_): ${id}`);
}

function decideDeposit(change: "confirm" | "fail" | "cancel", help: string): AdminVerb {
  return verb(
    `deposits ${change} <id> [--reason TEXT]`,
    help,
    ({ client }, [id], { reason }) =>
      client.post(`/api/admin/deposits/${segment(id)}/${change}`, { reason }),
  );
}

function decideRow(change: string, options: string, help: string): AdminVerb {
  return verb(
    `inbox ${change} <merchant-id> <network/txid/log/phase>${options}`,
    help,
    ({ client }, [merchantId, row = ""], { reason }) => {
      const [network, txid, log, phase] = row.split("/");
      const logIndex = Number(log);
      const key = { merchantId, network, txid, logIndex, phase };
      return client.post(`/api/admin/inbox/${change}`, { ...key, reason });
    },
  );
}

/** The key that reports of payments are signed with. @throws {Refused} where it is not known */
async function ingestSecret(env: Env): Promise<string> {
  const secret = env.INGEST_SECRET ||
    (await readCredentials(env.DATA_DIR || "./.data"))?.admin.ingestSecret;
  if (secret) return secret;
  throw new Refused(
    "Cannot sign the report as INGEST_SECRET is not set: give it the service's, as with the variables of service.env",
  );
}

/**
 * Reports how a withdrawal ended, as an upstream system does: `POST /api/webhook/event`, signed. Given
 * twice with the same words it counts once.
 */
async function reportWithdrawal(
  { client, env }: AdminContext,
  type: "withdrawal.confirmed" | "withdrawal.failed",
  data: Fields & { readonly withdrawalId: string },
): Promise<Fields> {
  const eventId = `by-hand:${data.withdrawalId}:${data.txHash ?? "failed"}`;
  const body = { eventId, type, data };
  const signature = createHmac("sha256", await ingestSecret(env))
    .update(canonicalJson(body)).digest("hex");
  return await client.send("POST", "/api/webhook/event", body, {
    "x-signature": signature,
    "x-timestamp": String(Date.now()),
  });
}

/** Verbs for payouts that wait, deposits by hand, quarantined rows and payouts that ended unexpected. */
export const PAYMENT_VERBS: readonly AdminVerb[] = [
  verb(
    "approvals list",
    "the payouts that wait for approval, or above the signer's cap (then: withdrawals fail, or raise it)",
    async ({ client }) =>
      select(
        await client.list("/api/admin/approvals", "approvals"),
        "id waits=waitsFor merchant=merchantName amount pair=currency/network fees=totalFees destination created=createdAt",
      ),
  ),
  verb(
    "approvals approve <id>",
    "lets a withdrawal (wd_...) or settlement (stl_...) go",
    ({ client }, [id]) => client.post(`${payoutPath(id)}/approve`),
  ),
  verb(
    "approvals reject <id> [--reason TEXT]",
    "turns one down, refunded; --reason is needed, and the merchant reads it",
    ({ client }, [id], { reason }) => {
      if (reason === undefined) throw new Refused("Cannot reject as no --reason is given");
      return client.post(`${payoutPath(id)}/reject`, { reason });
    },
  ),
  verb(
    "deposits list [--merchant ID]",
    "the deposits booked by hand that wait for a decision",
    async ({ client }, _, { merchant }) =>
      select(
        await client.list("/api/admin/deposits", "deposits", { merchantId: merchant }),
        "id merchant=merchantId amount pair=currency/network source created=createdAt",
      ),
  ),
  decideDeposit("confirm", "credits a deposit that was booked by hand"),
  decideDeposit("fail", "fails one; the merchant reads the reason"),
  decideDeposit("cancel", "cancels one"),
  verb(
    "inbox list [--kind bug|unreadable|unexpected|unclaimed|claimed|unproven|misdirected|renamed] [--merchant ID]",
    "what was quarantined with its reason",
    async ({ client }, _, { kind, merchant }) =>
      select(
        await client.list("/api/admin/inbox", "rows", { kind, merchantId: merchant }),
        "merchant=merchantId row=network/txid/logIndex/phase reason created=createdAt",
      ),
  ),
  decideRow("retry", "", "gives a row back to its merchant that a fault quarantined"),
  decideRow("acknowledge", " [--reason TEXT]", "takes one off the list that was dealt with"),
  decideRow(
    "discard",
    " [--reason TEXT]",
    "a disputed large transfer that no node shows any more",
  ),
  verb(
    "withdrawals confirm <withdrawal-id> <txid>",
    "it was paid by this transaction of another wallet, which is in a solid block",
    (context, [withdrawalId = "", txHash]) =>
      reportWithdrawal(context, "withdrawal.confirmed", { withdrawalId, txHash }),
  ),
  verb(
    "withdrawals fail <withdrawal-id> [--reason TEXT]",
    "it is not paid: refunded; refused once a transaction of it may land. --reason is needed",
    (context, [withdrawalId = ""], { reason }) => {
      if (reason === undefined) throw new Refused("Cannot fail as no --reason is given");
      return reportWithdrawal(context, "withdrawal.failed", { withdrawalId, reason });
    },
  ),
  verb(
    "withdrawals settle <withdrawal-id> <paid|not_paid> [--reason TEXT] [--txid TXID]",
    "settles a payout that ended unexpected, as the chain shows it; --txid of another " +
      "transaction that has brought what it lacked",
    ({ client }, [id, verdict], { reason, txid }) =>
      client.post(`/api/admin/withdrawals/${segment(id)}/settle`, { verdict, reason, txid }),
  ),
  verb(
    "rescan <network> <from> <to>",
    "reads solid blocks again and books what was missed",
    ({ client }, [network, from, to]) =>
      client.post(`/api/admin/chains/${segment(network)}/rescan`, {
        from: Number(from),
        to: Number(to),
      }),
  ),
];
