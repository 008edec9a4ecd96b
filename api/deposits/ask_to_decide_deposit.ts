/**
 * The command that decides on a deposit by hand, for an administrator or an upstream system.
 *
 * @module
 */

import type { Answers, DecideDeposit } from "../../actors/merchant/messages.ts";
import { sumConfirmedByHand } from "../../ledger/approvals.ts";
import type { DepositRow } from "../../ledger/rows.ts";
import { type AdminOutcome, askAsAdmin } from "../http/ask_as_admin.ts";
import type { Accountable } from "../http/audit_stamp.ts";
import type { ApiContext } from "../http/context.ts";
import { actorOf } from "../http/permission.ts";

/**
 * Asks for the decision. A confirmation carries what the same administrator has confirmed in the last
 * day: beyond the limit of one, another one has to confirm as well. Where the commit finds more, by another
 * node or at the same moment, the word is taken as the first of two.
 */
export async function askToDecideDeposit(
  request: Accountable,
  { merchantId }: Pick<DepositRow, "merchantId">,
  action: string,
  command: DecideDeposit,
  context: ApiContext,
): Promise<AdminOutcome<Answers["decide-deposit"]>> {
  const { depositId } = command;
  if (command.to !== "CONFIRMED") {
    return await askAsAdmin(request, merchantId, action, depositId, command, context);
  }
  const confirmedBefore = await sumConfirmedByHand(
    context.sql,
    actorOf(request.caller),
    depositId,
  );
  const judged = { ...command, confirmedBefore };
  return await askAsAdmin(
    request,
    merchantId,
    action,
    depositId,
    judged,
    context,
    (refusal) =>
      refusal.code === "same_administrator" && refusal.isSecondMissing === true
        ? { ...judged, needsAnother: true }
        : null,
  );
}
