/**
 * Names that were probably meant to be another one: by their letters alone, by a slip or two of the keyboard,
 * or as the short form that other interfaces use.
 *
 * @module
 */

/** Slips that still count as the same name. */
const MOST_SLIPS = 2;

/** Names that other interfaces have for a field. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([["reference", "referenceId"]]);

const lettersOf = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

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
 * @param name as it was written
 * @param meant the right one, at least six letters long
 */
export function isNearMiss(name: string, meant: string): boolean {
  if (OTHER_NAMES.get(name) === meant) return true;
  return slipsBetween(lettersOf(name), lettersOf(meant)) <= MOST_SLIPS;
}
