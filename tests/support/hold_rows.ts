import type { Sql } from "../../ledger/database/connect.ts";
import type { TestDatabase } from "./database.ts";

/**
 * Holds rows in a transaction of another session, as an operator does who repairs them by hand.
 *
 * @param lock locks the rows
 * @returns lets go of them; to be called before the database is closed
 */
export async function holdRows(
  database: TestDatabase,
  lock: (tx: Sql) => Promise<unknown>,
): Promise<() => Promise<void>> {
  const pool = database.connect({ max: 1 });
  const connection = await pool.reserve();
  await connection`BEGIN`;
  await lock(connection);
  return async () => {
    await connection`ROLLBACK`;
    connection.release();
  };
}
