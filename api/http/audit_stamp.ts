/**
 * Who is behind a request, as the audit keeps it.
 *
 * @module
 */

import type { AuditStamp } from "../../actors/merchant/messages.ts";
import type { HubAudit } from "../../ledger/audit.ts";
import type { AuditRow } from "../../ledger/rows.ts";
import type { ApiContext } from "./context.ts";
import type { Caller } from "./permission.ts";

/** What the audit needs of a request. */
export interface Accountable {
  readonly caller: Caller;
  readonly requestId: string;
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
