/**
 * Commands of administrators to merchants' actors, and the lines of the audit. What takes effect is
 * audited in the commit of its effect; what is refused changed nothing and is audited afterwards.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { AuditStamp } from "../../actors/merchant/messages.ts";
import type { Answers, MerchantCommand } from "../../actors/merchant/merchants.ts";
import type { Refusal } from "../../actors/merchant/refusal.ts";
import { type HubAudit, writeAudit } from "../../ledger/audit.ts";
import type { AuditRow } from "../../ledger/rows.ts";
import type { Answer } from "./answer.ts";
import type { ApiContext } from "./context.ts";
import { notDone, unauthorized } from "./errors.ts";
import type { Caller } from "./permission.ts";
import type { AnyRequest } from "./route.ts";

/** The parts of a request that the audit records. */
export interface Accountable {
  readonly caller: Caller;
  readonly requestId: string;
}

/** The parts of a request that asks a merchant's actor for an administrator. */
export type AskingAdmin = Accountable & Pick<AnyRequest, "refusalByNow">;

/** A second look at an administrator, for what asks nodes and is carried out in one, and the refusal that it may end in. */
export function lookAgain(request: AskingAdmin) {
  let refusal: Answer = unauthorized;
  return {
    refusal: () => refusal,
    mayStillAsk: async () => {
      const found = await request.refusalByNow();
      refusal = found ?? refusal;
      return found === null;
    },
  };
}

/**
 * The stamp of a command to a merchant's actor: the audit is written in the commit of its effect.
 *
 * @param action for example `withdrawal.approve`
 */
export function auditStamp(
  request: Accountable,
  action: string,
  context: Pick<ApiContext, "newId" | "duties">,
): AuditStamp {
  const { caller, requestId } = request;
  const { keyId: actor, administrator } = caller;
  const { newId, duties } = context;
  return { auditId: newId("aud"), actor, action, requestId, administrator, duties };
}

/** The line of the audit for something that belongs to no merchant's books. */
export function hubAudit(
  request: Accountable & { readonly merchantId: string | null },
  action: string,
  subject: string,
  context: Pick<ApiContext, "newId">,
  before: HubAudit["before"],
  after: HubAudit["after"],
): HubAudit {
  const { caller, requestId, merchantId } = request;
  const id = context.newId("aud");
  return { id, merchantId, actor: caller.keyId, action, subject, before, after, requestId };
}

/** The line of the audit for a setting of all merchants; its images are added where it changes. */
export function settingsAudit(
  request: Accountable & { readonly now: number },
  action: string,
  subject: string,
  context: Pick<ApiContext, "newId">,
): Omit<AuditRow, "before" | "after"> {
  const { caller, requestId, now } = request;
  const id = context.newId("aud");
  const actor = caller.keyId;
  return { id, merchantId: null, actor, action, subject, requestId, createdAt: now };
}

type Audited = Extract<MerchantCommand, { readonly audit?: AuditStamp }>;

/** The value of the actor, or the answer for the administrator. */
export type AdminOutcome<V> =
  | { readonly kind: "done"; readonly value: V }
  | { readonly kind: "answer"; readonly answer: Answer };

/**
 * Asks a merchant's actor for an administrator, whose key may have been revoked while nodes were asked for what the
 * command needs.
 *
 * @param action for the audit, for example `withdrawal.approve`
 * @param subject id of the record, for the audit of a refusal
 * @param instead what is asked once in place of a command that was refused so; null: the refusal is the answer
 */
export async function askAsAdmin<C extends Audited>(
  request: AskingAdmin,
  merchantId: string,
  action: string,
  subject: string,
  command: C,
  context: ApiContext,
  instead: (refusal: Refusal) => C | null = () => null,
): Promise<AdminOutcome<Answers[C["type"]]>> {
  const refusal = await request.refusalByNow();
  if (refusal !== null) return { kind: "answer", answer: refusal };
  const audit = auditStamp(request, action, context);
  const ask = (asked: C) =>
    context.merchants.ask(merchantId, { ...asked, audit }, context.askTimeoutMs);
  let outcome = await ask(command);
  const other = outcome.kind === "refused" ? instead(outcome.refusal) : null;
  if (other !== null) outcome = await ask(other);
  if (outcome.kind === "done") return outcome;
  if (outcome.kind === "refused") {
    await recordRefusal({ ...request, merchantId }, action, subject, outcome.refusal.code, context);
  }
  return { kind: "answer", answer: notDone(outcome, { id: subject }) };
}

/** Audits what an administrator was refused; it changed nothing. */
export async function recordRefusal(
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
    // nothing happened that would have to be recorded
    logEvent("audit.refusal_unrecorded", { action, subject, error })
  );
}
