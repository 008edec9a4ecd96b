/**
 * Names that were probably meant to be another one: by their letters alone, by a slip or two of the keyboard,
 * or as the short form that other interfaces use.
 *
 * @module
 */

/** Slips that still count as the same name; a word of a few letters is another one after two. */
const MOST_SLIPS = 2;
const FEW_LETTERS = 5;

/** Names that other interfaces have for a field, by their letters. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ...[
    "reference",
    "referencenumber",
    "ref",
    "refid",
    "idempotencykey",
    "idempotencyid",
    "orderid",
    "orderno",
    "ordernumber",
    "merchantorderid",
    "merchantreference",
    "clientorderid",
    "clientreference",
    "clientreferenceid",
    "externalid",
    "externalreference",
    "externalorderid",
    "invoiceid",
    "requestid",
    "txref",
    "uniqueid",
  ].map((name) => [name, "referenceid"] as const),
  ...["amount", "price", "total", "orderamount", "priceamount"]
    .map((name) => [name, "requestedamount"] as const),
  ...["pricecurrency", "fiat", "fiatcurrency"]
    .map((name) => [name, "requestedcurrency"] as const),
  ...["callbackurl", "notifyurl", "notificationurl", "ipnurl"]
    .map((name) => [name, "webhookurl"] as const),
  ...["transactionhash", "txid", "trxid"].map((name) => [name, "txhash"] as const),
  ...["returnurl", "redirecturl"].map((name) => [name, "successurl"] as const),
]);

const LONGEST_OTHER_NAME = Math.max(...[...OTHER_NAMES.keys()].map(({ length }) => length));

/** Words of their own, by their letters, that look like a field of this interface: a payment platform's id. */
const OTHER_WORDS: ReadonlySet<string> = new Set(["preferenceid"]);

/** A name without what people write it apart with: `reference_id` and `referenceID` are one. */
export function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/**
 * The characters above which no name can be one of these: the slips of the longest, or another name of it, with
 * as many characters between the letters again.
 */
export function mostCharacters(names: readonly string[]): number {
  return 2 * (Math.max(LONGEST_OTHER_NAME, ...names.map(({ length }) => length)) + MOST_SLIPS);
}

/**
 * Counts the letters that were left out, added, exchanged for another or swapped with their neighbour.
 *
 * @returns one more than {@linkcode MOST_SLIPS} where it is surely more than that
 */
function slipsBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MOST_SLIPS) return MOST_SLIPS + 1;
  const at = (rows: readonly (readonly number[])[], i: number, j: number) => rows[i]?.[j] ?? 0;
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const isSame = a.charAt(i - 1) === b.charAt(j - 1);
      let least = Math.min(
        at(rows, i - 1, j) + 1,
        at(rows, i, j - 1) + 1,
        at(rows, i - 1, j - 1) + (isSame ? 0 : 1),
      );
      const isSwap = i > 1 && j > 1 && a.charAt(i - 1) === b.charAt(j - 2) &&
        a.charAt(i - 2) === b.charAt(j - 1);
      if (isSwap) least = Math.min(least, at(rows, i - 2, j - 2) + 1);
      row.push(least);
    }
  }
  return at(rows, a.length, b.length);
}

/**
 * True where one name was probably meant to be another.
 *
 * @param written its letters, see {@linkcode lettersOf}
 * @param right the letters of the other one
 */
export function isNearMiss(written: string, right: string): boolean {
  if (OTHER_NAMES.get(written) === right) return true;
  if (OTHER_WORDS.has(written)) return false;
  const most = right.length <= FEW_LETTERS ? 1 : MOST_SLIPS;
  return slipsBetween(written, right) <= most;
}
