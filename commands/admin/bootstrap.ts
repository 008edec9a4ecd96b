import { newId } from "../../actors/runtime/ids.ts";
import { hashApiKey, mintApiKey } from "../../api/api_key.ts";
import { PERMISSIONS } from "../../api/permission.ts";
import { insertFirstAdminKey } from "../../ledger/admin/insert_first_admin_key.ts";
import { connect } from "../../ledger/database/connect.ts";
import { migrate } from "../../ledger/database/migrate.ts";
import { Refused } from "./client.ts";

/**
 * Makes the first administrator's key of a new installation. Needs `ENVIRONMENT` and `DATABASE_URL`
 * only, and works before the service was ever started.
 *
 * @returns the key, to be shown once
 * @throws {Refused} in development, and when there is a usable key already
 */
export async function bootstrap(env: Readonly<Record<string, string>>): Promise<string> {
  const environment = env.ENVIRONMENT || "development";
  const { DATABASE_URL: databaseUrl } = env;
  if (environment !== "staging" && environment !== "production") {
    throw new Refused(
      "Cannot make a first key outside staging and production: in development the first start " +
        `writes one to ${env.DATA_DIR || "./.data"}/dev-credentials.json`,
    );
  }
  if (!databaseUrl) throw new Refused("Cannot make a first key as DATABASE_URL is missing");
  const sql = connect(databaseUrl, { max: 1, applicationName: "engine-bootstrap" });
  try {
    await migrate(sql);
    const apiKey = mintApiKey(environment);
    const kept = await insertFirstAdminKey(sql, {
      id: newId("key"),
      merchantId: null,
      role: "ADMIN",
      permissions: PERMISSIONS,
      label: "first administrator",
      ipAllowlist: null,
      expiresAt: null,
      createdAt: Date.now(),
      hash: hashApiKey(apiKey),
    }, newId("aud"));
    if (!kept) {
      throw new Refused("Cannot make a first key as an administrator's key exists already");
    }
    return apiKey;
  } finally {
    await sql.end({ timeout: 5 });
  }
}
