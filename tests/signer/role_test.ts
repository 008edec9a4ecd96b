import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { grantSignerRole } from "../../ledger/database/grant_signer_role.ts";
import { readSignerRoles } from "../../ledger/database/read_installation.ts";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import { migrate } from "../../ledger/database/migrate.ts";
import { readIntents } from "../../ledger/treasury/intents.ts";
import { readUsedNonces } from "../../ledger/treasury/used_nonces.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { migrationsOf } from "../release/released.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { signerRole } from "./support/signer_role.ts";

const test = testNeeding(DATABASE);

/** Statements that a stolen connection of the signer could be used for. */
const FORBIDDEN = [
  "SELECT * FROM book.outgoing",
  "SELECT merchant_id FROM book.outgoing",
  "SELECT merchant_id FROM hub.address",
  "SELECT hash FROM hub.api_key",
  "SELECT webhook_secret FROM book.merchant",
  "UPDATE book.outgoing SET destination = 'thief'",
  "INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index) VALUES ('a', 'TRX', 'm', 'a', 1)",
  "DELETE FROM book.attempt",
  "TRUNCATE book.outgoing CASCADE",
  "CREATE TABLE book.mine (id int)",
];

/** A nonce that a cancel of the service has used. */
async function addCancel(sql: Sql, nonce: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
      VALUES ('out_eth', 'mer_1', 'payout', 'wd_eth', 'ETH', 'USDT', 1, '0xA', 'queued', now(), now())`;
    await tx`
      INSERT INTO book.lane_nonce (network, payer, nonce, intents) VALUES ('ETH', 'hot', ${nonce}, '{out_eth}')`;
    await tx`UPDATE book.outgoing SET nonce = ${nonce} WHERE id = 'out_eth'`;
    await tx`UPDATE book.outgoing SET status = 'void', attempts = 1 WHERE id = 'out_eth'`;
    await tx`
      INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, nonce, purpose, created_at, fee_limit)
      VALUES ('out_eth', 1, 'mer_1', 'ETH', '0xcancel', '0x03', ${nonce}, 'cancel', now(), 1)`;
    await tx`UPDATE book.lane_nonce SET used_by = '0xcancel', height = 2 WHERE nonce = ${nonce}`;
    await tx`UPDATE book.attempt SET outcome = 'cancelled', height = 2, fee = 0 WHERE txid = '0xcancel'`;
    await tx`UPDATE book.outgoing SET nonce = NULL WHERE id = 'out_eth'`;
  });
}

test("with its grants the signer reads intents and addresses, and can do nothing else", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    VALUES ('out_1', 'mer_1', 'payout', 'wd_1', 'TRX', 'USDT', 12.5, 'T1', 'queued', now(), now())`;
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES ('T1', 'TRX', 'mer_2', 'adr_1', 7), ('T1', 'TRX_SHASTA', 'mer_1', 'adr_2', 8),
      ('T2', 'TRX', 'mer_1', 'adr_3', 9), ('T3', 'TRX', 'mer_lost', 'adr_4', 10)`;
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    SELECT 'out_' || n, 'mer_1', 'payout', 'wd_' || n, 'TRX', 'USDT', 1, 'T' || n, 'queued', now(), now()
    FROM generate_series(2, 3) n`;
  await sql`
    INSERT INTO hub.wallet (network, wallet_id, hot_wallet, fingerprint, first_nonce)
    VALUES ('ETH', 'wal_1', 'hot', ${"0".repeat(64)}, 7)`;
  await sql`
    INSERT INTO book.lane_nonce (network, payer, nonce, intents, used_by, height, foreign_hand, foreign_bytes)
    VALUES ('ETH', 'hot', 7, '{}', '0xother', 1, true, '0x02')`;
  await addCancel(sql, 8);
  await using role = await signerRole(sql, database.url);
  // privileges granted by hand are taken away again
  await sql.unsafe(`GRANT ALL ON ALL TABLES IN SCHEMA book, hub TO ${role.name}`);
  await sql.unsafe(`GRANT SELECT (webhook_secret) ON book.merchant TO ${role.name}`);
  await grantSignerRole(sql, role.name);

  const own = connect(role.url, { max: 1, applicationName: "signer" });
  try {
    assertEquals(await readIntents(own, ["out_1", "out_x"]), [{
      outgoingId: "out_1",
      kind: "payout",
      network: "TRX",
      currency: "USDT",
      amount: amountOf("12.5"),
      destination: "T1",
      destinationIndex: 7,
      isDestinationClosed: false,
      wallet: "hot",
      payer: "hot",
      status: "queued",
      nonce: null,
      usedNonces: [],
    }]);
    const place = (nonce: number) => ({ network: "ETH", payer: "hot", nonce }) as const;
    const used = await readUsedNonces(own, [7, 8, 9].map(place));
    assertEquals(used.toSorted((a, b) => a.nonce - b.nonce), [
      { ...place(7), txid: "0xother", bytes: "0x02", isForeign: true },
      { ...place(8), txid: "0xcancel", bytes: "0x03", isForeign: false },
    ]);
    const closed = (await readIntents(own, ["out_1", "out_2", "out_3"]))
      .filter(({ isDestinationClosed }) => isDestinationClosed)
      .map(({ outgoingId }) => outgoingId).sort();
    assertEquals(closed, ["out_2", "out_3"], "the payer's own address, and a lost one");
    for (const statement of FORBIDDEN) {
      await assertRejects(
        () => own.begin("read write", (tx) => tx.unsafe(statement)),
        Error,
        "permission denied",
        statement,
      );
    }
    // as an installation is checked
    assertEquals([...await readSignerRoles(sql)], [{ name: role.name, mayWrite: false }]);
    await sql.unsafe(`GRANT UPDATE ON hub.address TO ${role.name}`);
    assertEquals([...await readSignerRoles(sql)], [{ name: role.name, mayWrite: true }]);
    await assertRejects(
      () => own`CREATE TEMP TABLE t (id int)`,
      Error,
      "read-only transaction",
    );
  } finally {
    await own.end({ timeout: 2 });
  }
});

test("a role that signed for an older version signs for this one once its migrations are applied", async () => {
  await using database = await testDatabase({ migrated: false });
  const { sql } = database;
  await migrate(sql, await migrationsOf("0.1.0"));
  const name = `signer_${crypto.randomUUID().replaceAll("-", "")}`;
  await sql.unsafe(`
    CREATE ROLE ${name} LOGIN PASSWORD '${name}';
    GRANT USAGE ON SCHEMA book, hub TO ${name};
    GRANT SELECT (id, kind, network, currency, amount, wallet, destination, status) ON book.outgoing TO ${name};
    GRANT SELECT (network, address, wallet_index) ON hub.address TO ${name}`);
  await migrate(sql);
  const url = new URL(database.url);
  url.username = url.password = name;
  const own = connect(url.href, { max: 1, applicationName: "signer" });
  try {
    await own`
      SELECT o.fee_payer, o.nonce, a.nonce, a.outcome, a.bytes, n.network, n.payer, n.nonce, n.used_by, n.foreign_bytes
      FROM book.outgoing o, book.attempt a, book.lane_nonce n`;
    await assertRejects(() => own`SELECT intents FROM book.lane_nonce`, Error, "permission denied");
  } finally {
    await own.end();
    await sql.unsafe(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
  }
});

test("a role that does not exist is not granted anything", async () => {
  await using database = await testDatabase();
  const fault = await grantSignerRole(database.sql, "nobody_here");
  assertStringIncludes(fault ?? "", 'CREATE ROLE "nobody_here"');
});

test("a role is not reduced before there are tables", async () => {
  await using database = await testDatabase({ migrated: false });
  const [{ name } = { name: "" }] = await database.sql<{ name: string }[]>`
    SELECT current_user AS name`;
  assertStringIncludes(await grantSignerRole(database.sql, name) ?? "", "admin bootstrap");
});

test("an owner that may not change roles is told what an administrator has to do", async () => {
  await using database = await testDatabase({ migrated: false });
  const { sql } = database;
  const [owner, name] = ["owner", "signer"].map((what) =>
    `${what}_${crypto.randomUUID().replaceAll("-", "")}`
  );
  if (owner === undefined || name === undefined) throw new Error("no names");
  const [{ at } = { at: "" }] = await sql<{ at: string }[]>`SELECT current_database() AS at`;
  await sql.unsafe(`CREATE ROLE ${owner} LOGIN PASSWORD '${owner}'`);
  await sql.unsafe(`CREATE ROLE ${name} LOGIN PASSWORD '${name}'`);
  await sql.unsafe(`ALTER DATABASE ${at} OWNER TO ${owner}`);
  const url = new URL(database.url);
  url.username = url.password = owner;
  const own = connect(url.href, { max: 1 });
  try {
    await migrate(own);
    const fault = await grantSignerRole(own, name);
    const setting = `ALTER ROLE "${name}" SET default_transaction_read_only = on`;
    assertStringIncludes(fault ?? "", setting);
    await sql.unsafe(setting);
    assertEquals(await grantSignerRole(own, name), null);
    const [granted] = await own`
      SELECT has_column_privilege(${name}, 'book.outgoing', 'amount', 'SELECT') AS amount,
        has_table_privilege(${name}, 'hub.api_key', 'SELECT') AS keys`;
    assertEquals({ ...granted }, { amount: true, keys: false });
  } finally {
    await own.end({ timeout: 2 });
    await sql.unsafe(`DROP OWNED BY ${name}, ${owner} CASCADE`);
    await sql.unsafe(`DROP ROLE ${name}`);
    await sql.unsafe(`ALTER DATABASE ${at} OWNER TO CURRENT_USER`);
    await sql.unsafe(`DROP ROLE ${owner}`);
  }
});
