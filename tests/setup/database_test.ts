import { assertEquals } from "@std/assert";
import { withDatabase } from "../support/database.ts";
for (let i = 0; i < 5; i++) {
Deno.test(`a test database is empty and its own ${i}`, async () => {
  const t = performance.now();
  await withDatabase(async ({ sql }) => {
    console.log("ready", Math.round(performance.now() - t));
    const rows = await sql`SELECT name FROM hub.migration`;
    assertEquals(rows.length > 0, true);
  });
  console.log("done", Math.round(performance.now() - t));
});
}
