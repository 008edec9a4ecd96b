/** 64 hexadecimal digits, with the prefix or, as some tools write them, without. */
const TRANSACTION_ID = /^(?:0x)?([0-9a-f]{64})$/i;

/** The spelling that nodes use, lower-case with `0x`; `null` for any other text. */
export function evmTransactionId(text: string): string | null {
  const digits = TRANSACTION_ID.exec(text)?.[1];
  return digits === undefined ? null : `0x${digits.toLowerCase()}`;
}
