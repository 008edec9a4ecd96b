import type { Sql, TransactionSql } from "postgres";
import { connectionFault } from "./database_errors.ts";

/**
 * One pool of two: statements on their own go to the first, transactions to the second.
 *
 * `npm:postgres` 3.4.9 takes a connection for a transaction only while it sends `BEGIN`. Where `BEGIN`
 * waits behind another statement that fills the connection, it is not taken: the transaction stays open
 * without an owner, and what other callers send over that connection is answered as done and never
 * committed. A pool that begins transactions and sends nothing else never sends `BEGIN` behind another
 * statement.
 *
 * A transaction whose connection is gone asks nothing more: the driver lets go of a closed socket and
 * still writes to it what a transaction asks later, its own rollback included
 * (porsager/postgres#1208), an error that nothing can catch, which ends the process. The transaction
 * itself was rejected with the connection, so what its function does afterwards is heard by no caller.
 */
export function guardTransactions(statements: Sql, transactions: Sql): Sql {
  const begin = (...args: unknown[]): unknown => {
    const body = args.at(-1);
    if (typeof body !== "function") throw new TypeError("Cannot begin without a function");
    let isLost = false;
    const guarded = async (tx: TransactionSql): Promise<unknown> => {
      try {
        const answer: unknown = body(guardStatements(tx, () => isLost));
        const value: unknown = await (Array.isArray(answer) ? Promise.all(answer) : answer);
        if (!isLost) return value;
      } catch (error) {
        if (!isLost) throw error;
      }
      // neither commit nor rollback may follow
      return await new Promise(() => {});
    };
    const work: Promise<unknown> = Reflect.apply(transactions.begin, transactions, [
      ...args.slice(0, -1),
      guarded,
    ]);
    return work.catch((error) => {
      isLost = true;
      throw error;
    });
  };
  const end = async (options?: { timeout?: number }): Promise<void> => {
    await Promise.all([statements.end(options), transactions.end(options)]);
  };
  const own = new Map<string | symbol, unknown>([
    ["begin", begin],
    ["end", end],
    ["reserve", () => transactions.reserve()],
  ]);
  return new Proxy(statements, {
    get: (target, name) => own.get(name) ?? Reflect.get(target, name),
  });
}

function guardStatements(tx: TransactionSql, isLost: () => boolean): TransactionSql {
  const refuse = () => {
    if (isLost()) throw connectionFault("CONNECTION_CLOSED", "its transaction lost it");
  };
  return new Proxy(tx, {
    apply: (target, self, args: unknown[]) => {
      refuse();
      return Reflect.apply(target, self, args);
    },
    get: (target, name) => {
      refuse();
      return Reflect.get(target, name);
    },
  });
}
