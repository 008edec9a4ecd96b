/**
 * The bytes of a transaction from the fields in which a node shows it. They prove nothing until their hash was
 * compared with the transaction's id.
 *
 * @module
 */

import { formatTransaction, serializeTransaction } from "viem/utils";

type Shown = Parameters<typeof formatTransaction>[0];
type Serializable = Parameters<typeof serializeTransaction>[0];

/** A word with all its digits: nodes leave zeros at the beginning out. */
function wordOf(value: unknown): `0x${string}` {
  const digits = String(value).replace(/^0x/, "").padStart(64, "0");
  return `0x${digits}`;
}

/**
 * Puts the fields of an answer to `eth_getTransactionByHash` together.
 *
 * @returns null where they make no transaction of a type that is known
 */
export function bytesOfFields(fields: Readonly<Record<string, unknown>>): string | null {
  try {
    const { authorizationList } = fields;
    const shown = {
      ...fields,
      ...(Array.isArray(authorizationList)
        ? {
          authorizationList: authorizationList.map((one) => ({
            ...one,
            r: wordOf(one.r),
            s: wordOf(one.s),
          })),
        }
        : {}),
    } as Shown;
    const { input, yParity, v = 0n, ...transaction } = formatTransaction(shown, undefined);
    const signature = {
      r: wordOf(fields.r),
      s: wordOf(fields.s),
      v,
      ...(yParity === undefined ? {} : { yParity }),
    };
    return serializeTransaction(
      { ...transaction, data: input } as Serializable,
      signature as Parameters<typeof serializeTransaction>[1],
    );
  } catch {
    // whatever is wrong with them: these fields prove nothing, and the node is asked for the bytes
    return null;
  }
}
