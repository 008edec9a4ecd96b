/**
 * Secrets of an installation, and the verdict on their replacement.
 *
 * @module
 */

/** Each secret that `deno task drill rotate` replaces. */
export const SECRETS = [
  "key of the admin",
  "key of the merchant",
  "callback secret",
  "SESSION_SECRET",
  "INGEST_SECRET",
  "CALLBACK_SECRETS_KEY",
  "login of the database",
  "passphrase of the wallet",
] as const;

type Secret = typeof SECRETS[number];

interface Proof {
  /** True if the new secret does what the old one did. */
  readonly works: boolean;
  /** True if the old one does so no more; null where that cannot be asked, as nothing has the old one any more. */
  readonly ended: boolean | null;
}

/** Results by secret. */
export type Proofs = Map<Secret, Proof>;

/** Sentences on secrets that were not replaced, that do not work, and that have not ended. */
export function secretFaults(proofs: Proofs, wanted: readonly Secret[]): readonly string[] {
  return wanted.flatMap((name) => {
    const proof = proofs.get(name);
    if (proof === undefined) return [`${name}: was not replaced`];
    return [
      ...proof.works ? [] : [`${name}: the new one does not work`],
      ...proof.ended === false ? [`${name}: the old one works`] : [],
    ];
  });
}
