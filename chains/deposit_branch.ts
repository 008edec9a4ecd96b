/**
 * Deposit addresses from the public key of their branch.
 *
 * The key is confidential: with it all deposit addresses are known to belong together, and together
 * with the private key of one of them it gives those of all.
 *
 * @module
 */

import { HDKey } from "@scure/bip32";

/** Steps from the master key to a deposit branch, `m/44'/<coin>'/<account>'/0`. */
const BRANCH_DEPTH = 4;

/**
 * Reads the extended public key of a deposit branch.
 *
 * @param xpub never in an error's message
 * @returns takes a derivation index, gives the 33-byte compressed public key
 * @throws {TypeError} when it is malformed, private, or the key of something else than a deposit branch
 */
export function depositBranch(xpub: string): (index: number) => Uint8Array {
  const branch = parse(xpub);
  if (branch.privateKey !== null) {
    throw new TypeError("Cannot use the deposit key as it is private; give the public one");
  }
  if (branch.depth !== BRANCH_DEPTH || branch.index !== 0) {
    throw new TypeError("Cannot use the deposit key as it is not that of a deposit branch");
  }
  return (index) => {
    if (!Number.isInteger(index) || index < 0 || index >= 2 ** 31) {
      throw new RangeError(`Cannot derive an address as its index is out of range: ${index}`);
    }
    const { publicKey } = branch.deriveChild(index);
    if (publicKey === null) throw new Error(`Cannot derive an address as it has no key: ${index}`);
    return publicKey;
  };
}

function parse(xpub: string): HDKey {
  try {
    return HDKey.fromExtendedKey(xpub);
  } catch {
    throw new TypeError("Cannot use the deposit key as it is malformed");
  }
}
