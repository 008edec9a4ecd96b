import { createSigner, type SignerOptions } from "../../../chains/signer/create_signer.ts";
import { type NonceSignature, PinnedNonces } from "../../../chains/signer/pinned_nonces.ts";
import { type ExpiringSignature, SignedMemory } from "../../../chains/signer/signed_memory.ts";
import { SpendingLimits } from "../../../chains/signer/signing_rules.ts";
import type { StoredSignature } from "../../../chains/signer/stored_signature.ts";
import { type Signer, SignerUnavailable } from "../../../chains/signer.ts";

/** Signatures that a signer has made durable, oldest first: what outlives it. */
export type KeptSignatures = StoredSignature[];

/** A signer that can die. */
export interface MortalSigner extends Required<Signer> {
  /**
   * It dies when it has signed once more: its signatures are durable, and its answer is lost. Another one begins with
   * what was kept.
   */
  die(): void;
}

/** Opens a signer that begins with what earlier ones have kept. */
export function openMortalSigner(
  options: Pick<SignerOptions, "keys" | "intents" | "builders" | "now">,
  kept: KeptSignatures,
): MortalSigner {
  const open = () =>
    createSigner({
      ...options,
      memory: new SignedMemory(kept.filter(isExpiring)),
      nonces: new PinnedNonces(kept.filter(isNumbered)),
      spending: new SpendingLimits({}),
      persistSigned: async (batch) => {
        await Promise.resolve(kept.push(...batch));
      },
    });
  let living = open();
  let isDying = false;
  return {
    live: (ids) => living.live(ids),
    sign: async (requests) => {
      const answers = await living.sign(requests);
      if (!isDying || requests.length === 0) return answers;
      isDying = false;
      living = open();
      throw new SignerUnavailable("Cannot sign as the signer has died");
    },
    die: () => {
      isDying = true;
    },
  };
}

function isNumbered(signature: StoredSignature): signature is NonceSignature {
  return signature.end.by === "nonce";
}

function isExpiring(signature: StoredSignature): signature is ExpiringSignature {
  return signature.end.by !== "nonce";
}
