import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { connect } from "../../ledger/database/connect.ts";
import { withDatabase } from "../support/database.ts";
import { DATABASE, needs } from "../support/permissions.ts";

const ignore = needs(DATABASE);

Deno.test({
  name: "a test has a migrated database that no other test sees",
  ignore,
  fn: async () => {
    const urls = await Promise.all([1, 2].map(() =>
      withDatabase(async ({ sql, url }) => {
        assert((await sql`SELECT FROM hub.migration`).length > 0);
        await sql`CREATE TABLE mine (n int)`;
        return url;
      })
    ));
    assertNotEquals(urls[0], urls[1]);
  },
});

Deno.test({
  name: "a test's database is gone after the test",
  ignore,
  fn: async () => {
    const url = await withDatabase((database) => Promise.resolve(database.url));
    const sql = connect(url, { max: 1 });
    await assertRejects(() => sql`SELECT 1`, Error, "does not exist");
    await sql.end({ timeout: 5 });
  },
});

Deno.test({
  name: "numbers of any size arrive exactly, as text",
  ignore,
  fn: () =>
    withDatabase(async ({ sql }) => {
      const [row] = await sql`
        SELECT 99999999999999999999.999999999999999999::numeric(38,18) AS amount,
               9223372036854775807 AS count`;
      assertEquals({ ...row }, {
        amount: "99999999999999999999.999999999999999999",
        count: "9223372036854775807",
      });
    }),
});
