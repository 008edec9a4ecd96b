import { verifyAudit } from "../../../ledger/audit_trail.ts";
import { configFor, withBooks } from "../books.ts";
import { type Env, type Output, Refused } from "../command.ts";

const HEAD = /^([1-9]\d{0,17}):([0-9a-f]{64})$/;

/**
 * Verifies the audit in the database itself, apart from the service; beside it is fine.
 *
 * @param text a head `number:hash` that an earlier call has printed
 * @returns the exit code: 0 it holds, 1 it does not
 * @throws {Refused} where the head or the environment is malformed
 */
export async function verifyAuditCommand(
  text: string | undefined,
  env: Env,
  out: Output,
): Promise<number> {
  const found = text === undefined ? null : HEAD.exec(text);
  if (text !== undefined && found === null) {
    throw new Refused("Expected: audit verify [number:hash]", 2);
  }
  return await withBooks(configFor("verify", env), async (sql) => {
    const known = found === null ? null : { number: found[1] ?? "", hash: found[2] ?? "" };
    const { head, faults } = await verifyAudit(sql, known);
    for (const { number, auditId, fault } of faults) {
      const link = number === null ? "" : `link ${number}`;
      out.log([link, auditId ?? "", fault].filter(Boolean).join("  "));
    }
    const lines = `${head.number} lines`;
    if (faults.length > 0) {
      out.log(`\nThe audit was changed: ${lines}.`);
      return 1;
    }
    out.log(`The audit holds: ${lines}. Write this down elsewhere, for the next time:`);
    out.log(`${head.number}:${head.hash}`);
    return 0;
  });
}
