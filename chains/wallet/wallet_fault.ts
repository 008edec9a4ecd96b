/**
 * A wallet, or a file of it, that must not be used. Its message is one line for the person who started
 * the program, and names what to do; it never holds a key.
 */
export class WalletFault extends Error {
  override readonly name = "WalletFault";
}
