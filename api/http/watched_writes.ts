/**
 * Keeps count of a request's writes, so that a lost answer of the database is reported as what it is: "nothing
 * was done" is said only where that is known.
 *
 * @module
 */

import { classifyDatabaseError } from "../../ledger/database/database_errors.ts";
import type { AnySql, Sql } from "../../ledger/database/connect.ts";

/** A statement, or the commit of a transaction, that changes rows. */
interface Write {
  state: "open" | "done" | "undone";
}

export class WatchedWrites {
  readonly #writes: Write[] = [];

  /** True where anything may have been stored although the request failed. */
  get mayBeStored(): boolean {
    return this.#writes.some(({ state }) => state !== "undone");
  }

  /** The same pool, watched. */
  watch(sql: Sql): Sql {
    const begin = (...args: unknown[]) => this.#begin(sql, args);
    const watched = this.#watchStatements(sql);
    return new Proxy(watched, {
      get: (target, name) => name === "begin" ? begin : Reflect.get(target, name),
    });
  }

  #watchStatements<S extends AnySql>(sql: S): S {
    return new Proxy(sql, {
      apply: (target, self, args: unknown[]) => {
        const query: unknown = Reflect.apply(target, self, args);
        this.#follow(textOf(args[0]), query);
        return query;
      },
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (name !== "unsafe" || typeof value !== "function") return value;
        return (...args: unknown[]) => {
          const query: unknown = Reflect.apply(value, target, args);
          this.#follow(typeof args[0] === "string" ? args[0] : "", query);
          return query;
        };
      },
    });
  }

  /** A statement of a transaction stores nothing before its commit, so that is what counts. */
  #begin(sql: Sql, args: readonly unknown[]): unknown {
    const body = args.at(-1);
    if (typeof body !== "function") throw new TypeError("Cannot begin without a function");
    const inside = new WatchedWrites();
    let commit: Write | null = null;
    const watchedBody = async (tx: AnySql) => {
      const answer: unknown = body(inside.#watchStatements(tx));
      const value = await (Array.isArray(answer) ? Promise.all(answer) : answer);
      if (inside.#writes.length > 0) this.#writes.push(commit = { state: "open" });
      return value;
    };
    const work: unknown = Reflect.apply(sql.begin, sql, [...args.slice(0, -1), watchedBody]);
    return Promise.resolve(work).then((value) => {
      if (commit !== null) commit.state = "done";
      return value;
    }, (error) => {
      if (commit !== null && !isUnknown(error)) commit.state = "undone";
      throw error;
    });
  }

  #follow(text: string, query: unknown): void {
    if (!isWrite(text) || !(query instanceof Promise)) return;
    const write: Write = { state: "open" };
    this.#writes.push(write);
    // `then` of the query itself would send it now
    Promise.prototype.then.call(query, () => write.state = "done", (error) => {
      if (!isUnknown(error)) write.state = "undone";
    });
  }
}

/** True where a failed write may have been stored: its connection was lost after it was sent. */
function isUnknown(error: unknown): boolean {
  if (classifyDatabaseError(error) !== "connection") return false;
  // the driver names the statement of what it had sent
  return error instanceof Error && "query" in error && typeof error.query === "string";
}

function textOf(strings: unknown): string {
  return Array.isArray(strings) && "raw" in strings ? strings.join("?") : "";
}

const WRITES = /\b(insert|update|delete|merge|truncate|create|drop|alter)\b/i;
/** Functions of the schema but for those that only say which history the database has. */
const OWN_FUNCTION = /\b(book|hub)\.(?!history_name\b|is_other_history\b)\w+\s*\(/i;

/** True for a statement that may change rows; most functions of the schema may. */
export function isWrite(text: string): boolean {
  return WRITES.test(text) || OWN_FUNCTION.test(text);
}
