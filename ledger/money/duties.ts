/**
 * Separation of duties: who made something does not approve it. Pure rules; the database enforces
 * the same ones by triggers (`book.is_same_hand`).
 *
 * @module
 */

import type { Amount } from "./amount.ts";

/**
 * The rule by which two actors differ. `persons`: by the administrator who stands behind a key, merchants'
 * keys that an administrator has issued included; `keys`: by the key alone; `off`: one administrator
 * runs the installation and may do both.
 */
const FOUR_EYES = ["off", "keys", "persons"] as const;

/** One of {@linkcode FOUR_EYES}. */
export type FourEyes = (typeof FOUR_EYES)[number];

/** The rules of one installation. */
export interface Duties {
  readonly fourEyes: FourEyes;
  /** Deposits by hand above this need two administrators; as much as one may confirm in 24 hours. */
  readonly aloneUpTo: Amount;
}

/** The key of an act (null: it is the service's own), and the administrator who stands behind it (null: the merchant alone). */
export interface Hand {
  readonly key: string | null;
  readonly administrator: string | null;
}

/** The author of an act by a key. */
export interface Actor extends Hand {
  readonly key: string;
}

/** True for a key without payout right yet: it needs approval, and the rules distinguish administrators. */
export function awaitsApproval(
  { fourEyes }: Pick<Duties, "fourEyes">,
  key: { readonly needsApproval: boolean },
): boolean {
  return fourEyes === "persons" && key.needsApproval;
}

/** True where two acts count as those of one person. */
export function isSameHand(
  fourEyes: FourEyes,
  one: Hand,
  other: Hand,
): boolean {
  switch (fourEyes) {
    case "off":
      return false;
    case "keys":
      return one.key !== null && one.key === other.key;
    case "persons":
      return (one.key !== null && one.key === other.key) ||
        (one.administrator !== null && one.administrator === other.administrator);
    default: {
      const never: never = fourEyes;
      return never;
    }
  }
}
