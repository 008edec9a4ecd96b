import { newId } from "../../../actors/runtime/ids.ts";
import { hashApiKey, mintApiKey } from "../../../api/http/key_ring.ts";
import { PERMISSIONS } from "../../../api/http/permission.ts";
import { insertAnotherAdminKey, insertFirstAdminKey } from "../../../ledger/api_key_changes.ts";
import { connect } from "../../../ledger/database/connect.ts";
import { readDatabaseTime } from "../../../ledger/database/database_clock.ts";
import { migrate, MIGRATION_STATEMENT_MS } from "../../../ledger/database/migrate.ts";
import { type Env, Refused } from "../command.ts";

/**
 * Makes the first administrator's key of a new installation, or the key of another administrator.
 * Needs `ENVIRONMENT` and `DATABASE_URL` only, and works before the service was ever started. Only
 * here, on the server, does a second person begin: what one key makes over HTTP stands for its maker.
 *
 * @param isAnother whether an administrator exists already and another person is added
 * @returns the key, to be shown once
 * @throws {Refused} in development; for a first key, when there is a usable one already
 */
export async function bootstrap(
  env: Env,
  isAnother = false,
): Promise<string> {
  const environment = env.ENVIRONMENT || "development";
  const { DATABASE_URL: databaseUrl } = env;
  if (environment !== "staging" && environment !== "production") {
    throw new Refused(
      "Cannot make a first key outside staging and production: in development the first start " +
        `writes one to ${env.DATA_DIR || "./.data"}/dev-credentials.json`,
    );
  }
  if (!databaseUrl) throw new Refused("Cannot make a first key as DATABASE_URL is missing");
  const sql = connect(databaseUrl, {
    max: 1,
    applicationName: "engine-bootstrap",
    statementTimeoutMs: MIGRATION_STATEMENT_MS,
  });
  try {
    await migrate(sql, undefined, environment);
    const apiKey = mintApiKey(environment);
    const id = newId("key");
    const insert = isAnother ? insertAnotherAdminKey : insertFirstAdminKey;
    const kept = await insert(sql, {
      id,
      merchantId: null,
      administrator: id,
      role: "ADMIN",
      permissions: PERMISSIONS,
      label: isAnother ? "another administrator" : "first administrator",
      ipAllowlist: null,
      expiresAt: null,
      createdAt: await readDatabaseTime(sql),
      hash: hashApiKey(apiKey),
    }, newId("aud"));
    if (!kept) {
      throw new Refused(
        "Cannot make a first key as an administrator's key exists already; " +
          "`bootstrap another` makes one for another person",
      );
    }
    return apiKey;
  } finally {
    await sql.end({ timeout: 5 });
  }
}
