/**
 * The place that deposit addresses of a network come from. Adapters are given one and derive nothing
 * themselves: how an address is made of a wallet is the wallet's affair, and not every chain has addresses
 * that follow from a public key.
 *
 * @module
 */

/** The deposit addresses of one network. */
export interface AddressSource {
  /**
   * The address of a derivation index, always the same.
   *
   * @throws {RangeError} when the index is no whole number from 0 to 2^31 - 1
   */
  address(index: number): string;
}
