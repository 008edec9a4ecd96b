import type { IssuedAddress } from "../../actors/addresses/address_guard.ts";
import type { Answer } from "./answer.ts";
import type { ApiContext } from "./context.ts";
import { unavailable } from "./errors.ts";

/**
 * Whether addresses of a merchant may be part of an answer; asked without any before an address is made.
 *
 * @returns the answer to give instead, 503; null where they may
 */
export async function heldBack(
  { addresses, doneReading }: Pick<ApiContext, "addresses" | "doneReading">,
  merchantId: string,
  given: readonly IssuedAddress[] = [],
): Promise<Answer | null> {
  // comparing takes up to ten seconds and no connection: other lists are read meanwhile
  if (given.length > 0) doneReading?.();
  const clearance = await addresses.clears(merchantId, given);
  switch (clearance) {
    case "cleared":
      return null;
    case "refused":
      return unavailable(
        "Addresses cannot be handed out at the moment; the operator was told why.",
      );
    case "busy":
      return unavailable(
        "Too many addresses are being compared with the wallet; ask again, what was done is kept.",
      );
    default: {
      const never: never = clearance;
      return never;
    }
  }
}
