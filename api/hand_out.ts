import type { IssuedAddress } from "../actors/addresses/address_guard.ts";
import type { Answer } from "./answer.ts";
import type { ApiContext } from "./context.ts";
import { unavailable } from "./errors.ts";

/**
 * Whether addresses may be part of an answer; asked without any before an address is made.
 *
 * @returns the answer to give instead, 503; null where they may
 */
export async function heldBack(
  { addresses }: Pick<ApiContext, "addresses">,
  given: readonly IssuedAddress[] = [],
): Promise<Answer | null> {
  return await addresses.clears(given)
    ? null
    : unavailable("Addresses cannot be handed out at the moment; the operator was told why.");
}
