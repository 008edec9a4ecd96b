/**
 * A chain on paper whose addresses have more than one spelling, as those of chains with hex addresses do:
 * the case of their letters says nothing. What compares texts as they came takes one place for two.
 *
 * @module
 */

import type { Chain } from "../../chains/chain.ts";
import { EMPTY_CHAIN } from "./api.ts";

const ADDRESS = /^0x[0-9a-f]{40}$/;

/** The canonical address of a number. */
export function spelledOnce(number: number): string {
  return `0x${number.toString(16).padStart(38, "a")}cd`;
}

/** Another spelling of the same address. */
export function otherwise(address: string): string {
  return address.toUpperCase().replace(/^0X/, "0x");
}

function canonical(text: string): string | null {
  const lower = text.toLowerCase();
  return ADDRESS.test(lower) ? lower : null;
}

/** The members of a chain that know spellings; the rest is that of a chain on which nothing has happened. */
export const TWO_SPELLINGS = {
  ...EMPTY_CHAIN,
  hotWallet: spelledOnce(0xffff),
  address: canonical,
  addressOf: (event) => event,
  eventAddress: (address) => address.toLowerCase(),
  deriveAddress: (index) => spelledOnce(0x10000 + index),
} satisfies Partial<Chain>;
