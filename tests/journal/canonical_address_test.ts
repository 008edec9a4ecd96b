import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { addMerchant, fund, openJournal, reserveCommand, SOMEWHERE } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Texts that are no canonical address of TRON: other letters, another form, another network's, nothing. */
const OTHERWISE = [
  SOMEWHERE.toLowerCase(),
  ` ${SOMEWHERE}`,
  SOMEWHERE.slice(0, -1),
  `${SOMEWHERE.slice(0, -1)}0`,
  "41c8599111f29c1e1e061265b4af93ea1f274ad78a",
  "0x52908400098527886E0F7030069857D2E4169EE7",
  "",
];

/** Texts that are no address of Ethereum. */
const OTHER_DIGITS = [
  "52908400098527886E0F7030069857D2E4169EE7",
  "0X52908400098527886E0F7030069857D2E4169EE7",
  "0x52908400098527886E0F7030069857D2E4169EE",
  "0x52908400098527886E0F7030069857D2E4169EEG",
  "0x52908400098527886E0F7030069857D2E4169EE7\n",
];

test("the database keeps no address that money is sent to in another form than its network's", async (t) => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  assertEquals((await journal.ask(merchantId, reserveCommand(), 60_000)).kind, "done");
  await journal.stop(1_000);
  let rows = 0;
  const places = {
    "book.withdrawal": (network: string, address: string) => {
      const changed = {
        id: `wd_${++rows}`,
        seq: 1_000 + rows,
        transaction_seq: 1_000 + rows,
        reference_id: null,
        network,
        destination: address,
      };
      return sql`
        INSERT INTO book.withdrawal
        SELECT (jsonb_populate_record(w, ${sql.json(changed)})).*
        FROM book.withdrawal w WHERE w.seq = 1`;
    },
    "book.settlement_address": (network: string, address: string) =>
      sql`
        INSERT INTO book.settlement_address (id, merchant_id, network, address, label, created_at)
        VALUES (${`adr_${++rows}`}, ${merchantId}, ${network}, ${address}, 'cold', now())`,
    "hub.reseller": (network: string, address: string) =>
      sql`
        INSERT INTO hub.reseller (id, merchant_id, name, withdrawal_address, network)
        VALUES (${`rsl_${++rows}`}, ${`mer_${rows}`}, 'Line', ${address}, ${network})`,
  };
  for (const [place, add] of Object.entries(places)) {
    await t.step(place, async () => {
      for (const network of ["TRX", "TRX_SHASTA"]) {
        for (const text of OTHERWISE) {
          const error = await assertRejects(async () => await add(network, text));
          assertMatch(String(error), /_is_canonical/, `${network} ${text}`);
        }
        await add(network, SOMEWHERE);
      }
      for (const network of ["ETH", "SEP", "BNB", "tBNB"]) {
        for (const text of OTHERWISE.filter((one) => !one.startsWith("0x")).concat(OTHER_DIGITS)) {
          const error = await assertRejects(async () => await add(network, text));
          assertMatch(String(error), /_is_canonical/, `${network} ${text}`);
        }
        await add(network, "0x52908400098527886E0F7030069857D2E4169EE7");
      }
      // the spelling of other networks is the interface's affair
      await add("SOL", SOMEWHERE);
    });
  }
});
