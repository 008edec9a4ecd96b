import { ChainUnavailable } from "../chain.ts";

/** A node answers for another chain than the one it is configured for. */
export class ForeignNode extends ChainUnavailable {
  constructor(message: string) {
    super("malformed", message);
    this.name = "ForeignNode";
  }
}
