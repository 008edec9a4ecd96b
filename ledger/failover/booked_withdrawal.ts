import type { UndecidedSpend } from "./verdicts.ts";

/**
 * The id of the withdrawal as which a transfer is booked for a merchant: the same each time it is asked
 * for, so that a verdict that is repeated finds what an earlier one has made. Its UUID is of version 8
 * where all others are of version 7, by which the database keeps it from ever being half booked, and its
 * payout from the queue (`book.is_booked`): the money has left already.
 *
 * @returns `wd_` and a UUID made of the SHA-256 of transfer and merchant
 */
export async function bookedWithdrawalId(
  { network, txid, logIndex }: Pick<UndecidedSpend, "network" | "txid" | "logIndex">,
  merchantId: string,
): Promise<string> {
  const text = new TextEncoder().encode([network, txid, logIndex, merchantId].join("/"));
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", text)).slice(0, 16);
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `wd_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${
    hex.slice(20)
  }`;
}
