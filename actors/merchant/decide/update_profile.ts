import { decided, timeOf, type Verdict } from "../decision.ts";
import type { Answers, UpdateProfile } from "../messages.ts";
import type { MerchantView } from "../state.ts";

/** Changes a merchant's settings; what the patch does not name stays. */
export function updateProfile(
  view: MerchantView,
  message: UpdateProfile,
): Verdict<Answers["update-profile"]> {
  const { webhookTimeout, ...patch } = message.patch;
  const profile = {
    ...view.state.merchant,
    ...patch,
    ...(webhookTimeout === undefined ? {} : { webhookTimeoutMs: webhookTimeout }),
  };
  return decided(timeOf(view.state, message.at), profile, { profile });
}
