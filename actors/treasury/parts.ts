import { getLogger } from "@logtape/logtape";
import { classifyDatabaseError } from "../../ledger/database/classify_database_error.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { isAway } from "../runtime/is_away.ts";

const log = getLogger(["engine", "treasury"]);

/** The parts of one look: each is tried, whatever became of the others. */
export class Parts {
  readonly #network: Network;
  readonly #failures: unknown[] = [];

  constructor(network: Network) {
    this.#network = network;
  }

  /**
   * Tries a part.
   *
   * @param name for the log
   * @throws at once when the database is away, without which no part gets on
   */
  async run(name: string, part: () => Promise<void>): Promise<void> {
    try {
      await part();
    } catch (error) {
      if (classifyDatabaseError(error) === "connection" && isAway(error)) throw error;
      this.#failures.push(error);
      log.warn("{network}: the look at {name} has failed, the others go on: {error}", {
        network: this.#network,
        name,
        error,
      });
    }
  }

  /**
   * Ends the look.
   *
   * @throws the first failure of a part, a fault of ours before what is only away
   */
  end(): void {
    const [first] = this.#failures;
    const bug = this.#failures.find((error) => !isAway(error));
    if (bug !== undefined) throw bug;
    if (first !== undefined) throw first;
  }
}
