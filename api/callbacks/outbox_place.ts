import { unavailable } from "../http/errors.ts";
import type { ApiContext } from "../http/context.ts";

/** The answer where a merchant's outbox is not free in time. */
export const OUTBOX_TAKEN = unavailable(
  "Too many events are being sent once more just now; nothing was done.",
);

/**
 * Does what locks a merchant's outbox, one after the other: those that would wait for the lock must not
 * hold the connections on which other merchants' keys are revoked.
 *
 * @returns null where no place was free in time; nothing was done
 */
export async function inOutboxPlace<T>(
  { redeliveryPlaces }: Pick<ApiContext, "redeliveryPlaces">,
  merchantId: string,
  work: () => Promise<T>,
): Promise<T | null> {
  const release = await redeliveryPlaces.take(merchantId);
  return release === null ? null : await work().finally(release);
}
