import { decided, type DecisionResult, timeOf } from "../decision.ts";
import type { Answers, UpdateProfile } from "../messages.ts";
import type { MerchantView } from "../state.ts";

/**
 * Changes a merchant's settings; what the patch does not name stays. A new secret makes the one it
 * replaces the previous one, valid for as long as the patch says: decided here, so that of two
 * rotations at once neither loses a secret that was just handed out.
 */
export function updateProfile(
  view: MerchantView,
  message: UpdateProfile,
): DecisionResult<Answers["update-profile"]> {
  const { merchant } = view.state;
  const { webhookTimeout, ...patch } = message.patch;
  const overlaps = (patch.webhookPreviousUntil ?? 0) > message.at;
  const profile = {
    ...merchant,
    ...patch,
    ...(patch.webhookSecret === undefined
      ? {}
      : { webhookSecretPrevious: overlaps ? merchant.webhookSecret : null }),
    ...(webhookTimeout === undefined ? {} : { webhookTimeoutMs: webhookTimeout }),
  };
  return decided(timeOf(view.state, message.at), profile, { profile });
}
