/**
 * The checks a transaction passes before its contract is looked at, in java-tron's order:
 * signature when it arrives; reference block, size and times whenever it is carried out.
 *
 * @module
 */

import { toBase58 } from "./address.ts";
import { ownerOf } from "./execute.ts";
import { MAX_EXPIRATION_MS, MAX_TRANSACTION_SIZE } from "./parameters.ts";
import { type NodeRefusal, REFUSALS, signatureRefusal } from "./refusal.ts";
import type { SignerFinder } from "./signature.ts";
import type { Transaction } from "./transaction.ts";

/** Null where the owner signed, otherwise the reason. */
export function checkSignature(
  transaction: Transaction,
  signers: SignerFinder,
): NodeRefusal | null {
  const call = transaction.raw.contract[0];
  if (transaction.signatures.length === 0 || call === undefined) {
    return signatureRefusal("miss sig or contract");
  }
  // Every account has one key of weight one here: permissions cannot be updated on this chain.
  if (transaction.signatures.length > 1) {
    return signatureRefusal(
      `Signature count is ${transaction.signatures.length} more than key counts of permission : 1`,
    );
  }
  if ((call.Permission_id ?? 0) !== 0) return signatureRefusal("permission isn't exit");
  const signature = transaction.signatures[0] as string;
  if (signature.length < 130) return signatureRefusal(`Signature size is ${signature.length / 2}`);
  const owner = ownerOf(call);
  const signer = signers.find(Uint8Array.fromHex(transaction.txid), signature, owner);
  if (signer !== null && signer === owner) return null;
  return signatureRefusal(
    signer === null
      ? "Header byte out of range or signature not on the curve"
      : `${signature} is signed by ${toBase58(signer)} but it is not contained of permission.`,
  );
}

/**
 * Size and times.
 *
 * @param headTime time of the newest block
 */
export function checkEnvelope(transaction: Transaction, headTime: number): NodeRefusal | null {
  if (transaction.size > MAX_TRANSACTION_SIZE) return REFUSALS.tooBig;
  const expiration = transaction.raw.expiration ?? 0;
  if (expiration <= headTime || expiration > headTime + MAX_EXPIRATION_MS) return REFUSALS.expired;
  return null;
}

/**
 * The reference block: one of the last 65,536, named by the low bytes of its height and by a part
 * of its id.
 *
 * @param idAt id of the block at a height, null where there is none
 */
export function checkReference(
  transaction: Transaction,
  headHeight: number,
  idAt: (height: number) => string | null,
): NodeRefusal | null {
  const low = parseInt(transaction.raw.ref_block_bytes ?? "", 16);
  if (Number.isNaN(low)) return REFUSALS.tapos;
  const height = headHeight - ((headHeight - low) & 0xffff);
  const id = height < 0 ? null : idAt(height);
  return id !== null && id.slice(16, 32) === transaction.raw.ref_block_hash ? null : REFUSALS.tapos;
}
