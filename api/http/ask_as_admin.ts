/**
 * Commands of administrators to merchants' actors. What takes effect is audited in the commit of
 * its effect; what is refused changed nothing and is noted afterwards.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Answers, AuditStamp, MerchantCommand } from "../../actors/merchant/messages.ts";
import type { Refusal } from "../../actors/merchant/refusal.ts";
import { writeAudit } from "../../ledger/audit.ts";
import type { Answer } from "./answer.ts";
import { type Accountable, auditStamp, hubAudit } from "./audit_stamp.ts";
import type { ApiContext } from "./context.ts";
import { notDone } from "./errors.ts";

const log = getLogger(["engine", "api"]);

type Audited = Extract<MerchantCommand, { readonly audit?: AuditStamp }>;

/** What the actor answered, or what the administrator is told instead. */
export type AdminOutcome<V> =
  | { readonly kind: "done"; readonly value: V }
  | { readonly kind: "answer"; readonly answer: Answer };

/**
 * Asks a merchant's actor for an administrator.
 *
 * @param action for the audit, for example `withdrawal.approve`
 * @param subject id of the record, for the audit of a refusal
 * @param instead what is asked once in place of a command that was refused so; null: the refusal is told
 */
export async function askAsAdmin<C extends Audited>(
  request: Accountable,
  merchantId: string,
  action: string,
  subject: string,
  command: C,
  context: ApiContext,
  instead: (refusal: Refusal) => C | null = () => null,
): Promise<AdminOutcome<Answers[C["type"]]>> {
  const audit = auditStamp(request, action, context);
  const ask = (asked: C) =>
    context.merchants.ask(merchantId, { ...asked, audit }, context.askTimeoutMs);
  let outcome = await ask(command);
  const other = outcome.kind === "refused" ? instead(outcome.refusal) : null;
  if (other !== null) outcome = await ask(other);
  if (outcome.kind === "done") return outcome;
  if (outcome.kind === "refused") {
    await noteRefusal({ ...request, merchantId }, action, subject, outcome.refusal.code, context);
  }
  return { kind: "answer", answer: notDone(outcome, { id: subject }) };
}

/** Notes what an administrator was refused; it changed nothing. */
export async function noteRefusal(
  request: Accountable & { readonly merchantId: string | null },
  action: string,
  subject: string,
  refused: string,
  context: ApiContext,
): Promise<void> {
  await writeAudit(context.sql, {
    ...hubAudit(request, action, subject, context, null, null),
    refused,
  }).catch((error: unknown) =>
    // nothing happened that would have to be told
    log.warn("cannot note a refused {action} of {subject}: {error}", { action, subject, error })
  );
}
