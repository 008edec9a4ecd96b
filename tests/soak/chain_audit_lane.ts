import { z } from "zod";
import { send } from "../faults/support/client.ts";
import { kindOf } from "./chain_kinds.ts";
import type { SoakWorld } from "./chain_world.ts";

const Count = z.object({ result: z.string() });

/**
 * The hot wallet's nonces from the first one on: one after the other, each used by one transaction but for the newest, which
 * carry sweeps that go on, and as many as the chain counts. Nothing where senders do not number their transactions.
 *
 * @returns what is wrong, as sentences
 */
export async function laneFaults(
  { service: { sql }, chain, options: { network } }: SoakWorld,
): Promise<readonly string[]> {
  if (kindOf(network).family.expires) return [];
  const [wallet] = await sql<{ address: string; first: string }[]>`
    SELECT hot_wallet AS address, first_nonce AS first FROM hub.wallet WHERE network = ${network}`;
  if (wallet === undefined) return [`${network} has no wallet`];
  const nonces = await sql<{ nonce: string; usedBy: string | null }[]>`
    SELECT nonce, used_by AS "usedBy" FROM book.lane_nonce
    WHERE network = ${network} AND payer = 'hot' ORDER BY nonce`;
  const first = Number(wallet.first);
  const used = nonces.flatMap(({ usedBy }) => usedBy ?? []);
  const faults = nonces.flatMap(({ nonce, usedBy }, place) => [
    ...(Number(nonce) === first + place
      ? []
      : [`nonce ${nonce} stands where ${first + place} should`]),
    ...(usedBy === null && place < used.length ? [`nonce ${nonce} is used by nothing`] : []),
  ]);
  if (new Set(used).size < used.length) faults.push("one transaction has used two nonces");
  const params = [wallet.address, "latest"];
  const call = { jsonrpc: "2.0", id: 1, method: "eth_getTransactionCount", params };
  const counted = Number(Count.parse((await send(chain.url, "POST", call)).body).result);
  const [least, most] = [first + used.length, first + nonces.length];
  if (counted < least || counted > most) {
    faults.push(`the chain counts ${counted} nonces, the books have used ${least} of ${most}`);
  }
  return faults;
}
