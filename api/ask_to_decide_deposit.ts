/**
 * The command that decides on a deposit by hand, for an administrator or an upstream system.
 *
 * @module
 */

import type { Answers, DecideDeposit } from "../actors/merchant/messages.ts";
import { add } from "../ledger/amount.ts";
import { sumConfirmedByHand } from "../ledger/admin/confirmed_by_hand.ts";
import type { DepositRow } from "../ledger/rows.ts";
import { type AdminOutcome, askAsAdmin } from "./ask_as_admin.ts";
import type { Accountable } from "./audit_stamp.ts";
import type { ApiContext } from "./context.ts";
import { actorOf } from "./permission.ts";

/**
 * Asks for the decision. A confirmation carries what the same administrator has confirmed in the last
 * day and is confirming at the moment: beyond the limit of one, another one has to confirm as well.
 */
export async function askToDecideDeposit(
  request: Accountable,
  { merchantId, amount }: Pick<DepositRow, "merchantId" | "amount">,
  action: string,
  command: DecideDeposit,
  context: ApiContext,
): Promise<AdminOutcome<Answers["decide-deposit"]>> {
  const { depositId } = command;
  if (command.to !== "CONFIRMED") {
    return await askAsAdmin(request, merchantId, action, depositId, command, context);
  }
  const actor = actorOf(request.caller);
  const underWay = context.confirmations.begin(actor.administrator ?? actor.key, amount);
  try {
    const ofTheDay = await sumConfirmedByHand(context.sql, actor, depositId);
    const judged = { ...command, confirmedBefore: add(ofTheDay, underWay.others) };
    return await askAsAdmin(request, merchantId, action, depositId, judged, context);
  } finally {
    underWay.end();
  }
}
