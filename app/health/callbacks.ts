import type { Registry } from "prom-client";
import type { Webhooks } from "../../actors/webhook/webhooks.ts";
import type { NameLookups } from "../../webhooks/name_lookups.ts";
import type { SupervisedSender } from "../workers/worker_sender.ts";
import { registerSingleGauges } from "./figures.ts";
import type { CallbackSecrets } from "../open/callback_secrets.ts";

/** Milliseconds without a sender after which it is reported. */
const AWAY_MS = 5_000;

/** For how long it is reported that a name found no place, milliseconds. */
const CROWDED_MS = 60_000;

/** The parts that deliver callbacks, as far as health needs them. */
export interface CallbackParts {
  readonly webhooks: Pick<Webhooks, "figures">;
  readonly sender: Pick<SupervisedSender, "figures">;
  readonly secrets: Pick<CallbackSecrets, "figures">;
  readonly names: Pick<NameLookups, "figures">;
}

/** Troubles with the delivery of callbacks. */
export function callbackReasons({ webhooks, sender, secrets, names }: CallbackParts): string[] {
  const { refusedClaims, heldMarks, withoutSecret } = webhooks.figures;
  const reasons: string[] = [];
  // a secret that was changed is met when it is opened, one of another key is counted before
  const closed = Math.max(withoutSecret, secrets.figures.unreadable);
  if (closed > 0) {
    reasons.push(
      `callbacks of ${closed} merchants wait as no configured key opens their secret: ` +
        "see CALLBACK_SECRETS_KEY, or give them new ones",
    );
  }
  if (refusedClaims > 0) {
    reasons.push(`events of ${refusedClaims} merchants cannot be read for delivery`);
  }
  if (heldMarks > 0) {
    reasons.push(`${heldMarks} deliveries cannot be written down as their rows are held`);
  }
  const { awayMs } = sender.figures;
  if (awayMs > AWAY_MS) {
    reasons.push(`no callback is sent as the sender ended ${Math.floor(awayMs / 1_000)} s ago`);
  }
  const { underWay, crowdedMsAgo } = names.figures;
  if (crowdedMsAgo !== null && crowdedMsAgo < CROWDED_MS) {
    reasons.push(
      "names of callbacks' hosts were not looked up within the last minute as too many look-ups " +
        `hang (${underWay} now)`,
    );
  }
  return reasons;
}

/** Registers what keeps callbacks from being delivered. */
export function registerCallbackMetrics(
  registry: Registry,
  { webhooks, sender, secrets, names }: CallbackParts,
): void {
  registerSingleGauges(registry, {
    webhook_refused_claims: [
      "Merchants whose events the database refuses to hand out",
      () => webhooks.figures.refusedClaims,
    ],
    webhook_held_marks: [
      "Deliveries that cannot be written down as something else holds their rows",
      () => webhooks.figures.heldMarks,
    ],
    webhook_unsendable: [
      "Attempts for which no request could be made",
      () => webhooks.figures.unsendable,
    ],
    webhook_without_secret: [
      "Merchants whose events wait as their secret cannot be opened",
      () => webhooks.figures.withoutSecret,
    ],
    callback_secrets_unreadable: [
      "Merchants with an endpoint whose secret is encrypted with a key that is not configured",
      () => secrets.figures.unreadable,
    ],
    callback_secrets_of_earlier_keys: [
      "Merchants with a secret that is encrypted with a key of CALLBACK_SECRETS_EARLIER_KEYS",
      () => secrets.figures.earlier,
    ],
    webhook_sender_restarts: [
      "How often the sender was started again",
      () => sender.figures.restarts,
    ],
    webhook_name_lookups: [
      "Names of callbacks' hosts that are looked up now",
      () => names.figures.underWay,
    ],
    webhook_name_lookups_waiting: [
      "Names of callbacks' hosts that wait for others to be looked up",
      () => names.figures.waiting,
    ],
    webhook_name_lookups_refused: [
      "Names of callbacks' hosts that found no turn in time",
      () => names.figures.refused,
    ],
  });
}
