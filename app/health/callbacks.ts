import type { Registry } from "prom-client";
import type { Webhooks } from "../../actors/webhook/webhooks.ts";
import type { NameLookups } from "../../webhooks/name_lookups.ts";
import type { SupervisedSender } from "../workers/worker_sender.ts";
import { registerFigures, registerSingle } from "./figures.ts";
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

/** Registers how callbacks are delivered, and what keeps them from it. */
export function registerCallbackMetrics(
  registry: Registry,
  { webhooks, sender, secrets, names }: CallbackParts,
): void {
  registerFigures(registry, () => Object.entries(webhooks.figures.results), {
    engine_callback_attempts_total: (count) => count,
  });
  registerSingle(registry, {
    engine_callbacks_in_flight: () => webhooks.figures.inFlight,
    engine_callbacks_unmarked: () => webhooks.figures.unmarked,
    engine_callbacks_lost_marks_total: () => webhooks.figures.lostMarks,
    engine_callbacks_held_marks: () => webhooks.figures.heldMarks,
    engine_callbacks_refused_claims: () => webhooks.figures.refusedClaims,
    engine_callbacks_unsendable_total: () => webhooks.figures.unsendable,
    engine_callbacks_without_secret: () => webhooks.figures.withoutSecret,
    engine_callbacks_secrets_unreadable: () => secrets.figures.unreadable,
    engine_callbacks_secrets_of_earlier_keys: () => secrets.figures.earlier,
    engine_callbacks_sender_restarts_total: () => sender.figures.restarts,
    engine_callbacks_sender_away_seconds: () => sender.figures.awayMs / 1_000,
    engine_callbacks_name_lookups: () => names.figures.underWay,
    engine_callbacks_name_lookups_waiting: () => names.figures.waiting,
    engine_callbacks_name_lookups_refused_total: () => names.figures.refused,
  });
}
