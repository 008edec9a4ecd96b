/**
 * Ids of the first blocks of the public networks. A chain with another first block is another chain,
 * whatever its nodes call it.
 */
export const PUBLIC_GENESIS = {
  TRX: "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc",
  TRX_SHASTA: "0000000000000000de1aa88295e1fcf982742f773e0419c5a9c134c994a9059e",
} as const;
