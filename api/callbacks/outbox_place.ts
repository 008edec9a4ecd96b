import { unavailable } from "../http/errors.ts";
import type { ApiContext } from "../http/context.ts";

/** The answer where a merchant's outbox is not free in time. */
export const OUTBOX_TAKEN = unavailable(
  "Too many events are being sent once more just now; nothing was done.",
);

/** Of a merchant's requests that may wait for its outbox, how many each kind leaves to the others. */
const KEPT = { redelivery: 1, test: 1, resume: 0 } as const;

/**
 * Does what locks a merchant's outbox, one after the other: those that would wait for the lock must not
 * hold the connections on which other merchants' keys are revoked.
 * Redeliveries and tests leave a place in the queue to `resume`, which ends the pause that made them necessary.
 *
 * @returns null where no place was free in time; nothing was done
 */
export async function inOutboxPlace<T>(
  { redeliveryPlaces }: Pick<ApiContext, "redeliveryPlaces">,
  merchantId: string,
  kind: keyof typeof KEPT,
  work: () => Promise<T>,
): Promise<T | null> {
  const release = await redeliveryPlaces.take(merchantId, KEPT[kind]);
  return release === null ? null : await work().finally(release);
}
