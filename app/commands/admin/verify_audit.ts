import { loadConfig } from "../../config/config.ts";
import { verifyAudit } from "../../../ledger/audit_trail.ts";
import { assertMigrated } from "../../../ledger/database/migrate.ts";
import { openBooks } from "../../open/open_books.ts";
import type { Output } from "../reconcile.ts";

const HEAD = /^([1-9]\d{0,17}):([0-9a-f]{64})$/;

/**
 * Verifies the audit in the database itself, apart from the service; beside it is fine.
 *
 * @param args nothing, or a head `number:hash` that an earlier call has printed
 * @returns the exit code: 0 it holds, 1 it does not, 2 not understood
 */
export async function verifyAuditCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  out: Output,
): Promise<number> {
  const [text, ...more] = args;
  const found = text === undefined ? null : HEAD.exec(text);
  if (more.length > 0 || (text !== undefined && found === null)) {
    out.error("Expected: audit verify [number:hash]");
    return 2;
  }
  const answer = loadConfig(env);
  if (!answer.ok) {
    out.error(`Cannot verify as the environment is wrong:\n  ${answer.faults.join("\n  ")}`);
    return 2;
  }
  const books = await openBooks(answer.config);
  try {
    await assertMigrated(books.sql);
    const known = found === null ? null : { number: found[1] ?? "", hash: found[2] ?? "" };
    const { head, faults } = await verifyAudit(books.sql, known);
    for (const { number, auditId, fault } of faults) {
      out.log(
        [number === null ? "" : `link ${number}`, auditId ?? "", fault].filter(Boolean).join("  "),
      );
    }
    const lines = `${head.number} lines`;
    if (faults.length > 0) {
      out.log(`\nThe audit was changed: ${lines}.`);
      return 1;
    }
    out.log(`The audit holds: ${lines}. Write this down elsewhere, for the next time:`);
    out.log(`${head.number}:${head.hash}`);
    return 0;
  } finally {
    await books.close();
  }
}
