import { assertEquals } from "@std/assert";
import { readOpenNonces } from "../../ledger/lanes/open_nonces.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addNonce, addWallet } from "./support/lane_rig.ts";

const test = testNeeding(DATABASE);

test("while nothing becomes final, bytes are read of those nonces alone that no block shows", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const [{ height = 0 } = {}] = await sql<{ height: number }[]>`
    SELECT height::int FROM hub.cursor WHERE network = 'ETH' AND view = 'solid'`;
  await addNonce(sql, { payer: "hot", nonce: 0, seenHeight: height + 5 });
  // a second transaction of a nonce that a block shows
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, nonce, created_at, fee_limit)
    SELECT outgoing_id, 2, merchant_id, network, 'second', '{"nonce":0}', nonce, now(), 1
    FROM book.attempt WHERE nonce = 0`;
  // seen in a block that the scan has passed without it
  await addNonce(sql, { payer: "hot", nonce: 1, seenHeight: height });
  await addNonce(sql, { payer: "hot", nonce: 2 });
  await addNonce(sql, { payer: "hot", nonce: 3, isSigned: false });
  const open = await readOpenNonces(sql, "ETH");
  assertEquals(
    open.map(({ nonce, attempts }) => [
      nonce,
      ...attempts.map(({ txid, isSeen, bytes }) => `${txid} ${isSeen} ${bytes}`),
    ]),
    [
      [0, "second false ", "aout_hot_0000 true "],
      [1, 'aout_hot_0001 false {"nonce":1}'],
      [2, 'aout_hot_0002 false {"nonce":2}'],
      [3],
    ],
  );
});
