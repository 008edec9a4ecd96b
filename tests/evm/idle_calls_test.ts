import { assert } from "@std/assert";
import { withDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** The most calls to a provider in a day, and the minutes that are passed here. */
const CASES = [["ETH", 45_000, 20], ["BNB", 460_000, 8]] as const;

for (const [network, most, minutes] of CASES) {
  test(`${network}: a day without a payment takes at most ${most} calls to its node`, async () => {
    const { callsOfDay, startIdleService } = await import("./support/idle_service.ts");
    await withDatabase(async (database) => {
      const journalSql = database.connect({ max: 2, looksUpOnly: true });
      await using idle = await startIdleService(database.sql, journalSql, network);
      const { counted, byMethod } = await idle.pass(minutes);
      const day = callsOfDay(counted, minutes);
      assert(counted > 0 && day <= most, `${day}: ${JSON.stringify(byMethod)}`);
    });
  });
}
