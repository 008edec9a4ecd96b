import { assertEquals } from "@std/assert";
import { amountOf } from "../../ledger/money/amount.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { openLane } from "./support/test_lane.ts";

const test = testNeeding(DATABASE);

test(
  "a transaction has cost what its own bytes say, whatever a node calls its fee",
  async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const lane = await openLane(sql);
    const told: string[] = [];
    Object.assign(lane.chain.port, {
      feeOf: ({ txid }: { readonly txid: string }, bytes: string) => {
        told.push(`${txid} ${bytes}`);
        return amountOf("0.00042");
      },
    });
    await lane.addPayout("out_1");
    await lane.finish();
    const rows = await sql<{ txid: string; bytes: string; fee: string }[]>`
    SELECT txid, bytes, trim_scale(fee)::text AS fee FROM book.attempt WHERE outcome = 'paid'`;
    assertEquals(rows.map(({ fee }) => fee), ["0.00042"]);
    assertEquals(told, rows.map(({ txid, bytes }) => `${txid} ${bytes}`));
  },
);
