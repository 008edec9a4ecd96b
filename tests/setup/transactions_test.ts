import { assert, assertEquals } from "@std/assert";
import { needs } from "../support/permissions.ts";

const ignore = needs({ net: true, env: true, run: true, read: true, write: true });

Deno.test(
  "what is answered is committed, however many transactions begin beside it",
  { ignore },
  async () => {
    const { testDatabase } = await import("../support/database.ts");
    await using database = await testDatabase();
    const sql = database.connect({ max: 3 });
    const other = database.connect({ max: 1 });
    await sql`CREATE TABLE public.written (id integer PRIMARY KEY)`;
    let id = 0;
    let isOver = false;
    const begins = async () => {
      while (!isOver) await sql.begin(async (tx) => await tx`SELECT pg_sleep(0.0005)`);
    };
    const fills = async () => {
      while (!isOver) await sql`SELECT generate_series(1, 50)`;
    };
    let missing = 0;
    const writes = async () => {
      for (let i = 0; i < 100; i++) {
        const mine = ++id;
        await sql`INSERT INTO public.written (id) VALUES (${mine})`;
        const [found] = await other<{ there: boolean }[]>`
        SELECT EXISTS (SELECT FROM public.written WHERE id = ${mine}) AS there`;
        if (found?.there !== true) missing++;
      }
    };
    const beside = [...Array.from({ length: 8 }, begins), ...Array.from({ length: 8 }, fills)];
    // an error beside ends the test as well: it is awaited below
    const done = Promise.all(beside);
    await Promise.race([Promise.all(Array.from({ length: 8 }, writes)), done]);
    isOver = true;
    await done;
    assertEquals(missing, 0);
  },
);

Deno.test("a statement that leaves a transaction open counts as lost, and its connection goes", {
  ignore,
}, async () => {
  const { testDatabase } = await import("../support/database.ts");
  await using database = await testDatabase();
  const sql = database.connect({ max: 1 });
  let error: unknown;
  await sql.unsafe("BEGIN; SELECT 1").catch((caught: unknown) => error = caught);
  assert(error instanceof Error && "code" in error);
  assertEquals(error.code, "CONNECTION_CLOSED");
  const [row] = await sql<{ open: number }[]>`
    SELECT count(*)::int AS open FROM pg_stat_activity
    WHERE datname = current_database() AND state LIKE 'idle in transaction%'`;
  assertEquals(row?.open, 0);
});
