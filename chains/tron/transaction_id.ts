/** 64 hexadecimal digits, as some tools write them with the prefix of other chains. */
const TRANSACTION_ID = /^(?:0x)?([0-9a-f]{64})$/i;

/** The spelling that TRON nodes use, lowercase without prefix; `null` for any other text. */
export function tronTransactionId(text: string): string | null {
  return TRANSACTION_ID.exec(text)?.[1]?.toLowerCase() ?? null;
}
