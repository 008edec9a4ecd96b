import { type Signer, SignerUnavailable } from "../../chains/signer.ts";
import type { Network } from "../../ledger/money/pair.ts";

/** An id that no transfer has. */
const NOBODY = "out_nobody";

/**
 * Whether a network is signed for at all, found out by asking for a signature of nothing: a signer
 * looks at the network and its key before it looks for the transfer.
 *
 * @returns `false` where the wallet is locked or nobody signs for the network; `null` while the
 *   signer cannot be reached: then payouts wait for it
 */
export async function signsFor(signer: Signer, network: Network): Promise<boolean | null> {
  try {
    const [answer] = await signer.sign([{
      outgoingId: NOBODY,
      envelope: { network, fields: {}, expiresAt: 0 },
    }]);
    return answer !== undefined && !("refused" in answer && isClosed(answer.refused));
  } catch (error) {
    if (error instanceof SignerUnavailable) return null;
    throw error;
  }
}

/** Whether a refusal means that no payout of its network can be signed. */
export function isClosed(refused: string): boolean {
  return refused === "locked" || refused === "no-signer";
}
