import { assert, assertEquals } from "@std/assert";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import { AddressBook } from "../../actors/addresses/address_book.ts";
import type { Block } from "../../chains/chain.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { networkFingerprint } from "../../chains/wallet/public_wallet.ts";
import { publicAddresses } from "../../chains/wallet/network_keys.ts";
import { wallet as walletCommand } from "../../app/commands/wallet.ts";
import { attestWallet } from "../../ledger/addresses/wallets.ts";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import { readHealth } from "../../ledger/database/read_health.ts";
import { addMerchant, amount, openJournal, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { eventAddressOf, paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { registerWallets } from "../../app/open/open_wallet.ts";
import { compareHistory } from "../../ledger/failover/history.ts";

const test = testNeeding(DATABASE);

/** A block with one payment. */
function paymentTo(address: string, height: number): Block {
  const txid = height.toString(16).padStart(64, "0");
  return {
    height,
    parentHeight: height - 1,
    hash: String(height),
    parentHash: String(height - 1),
    time: 1_700_000_000_000,
    tick: 1_700_000_000_000,
    transactions: [{ txid, success: true, failure: null, fee: amount("1") }],
    transfers: [{
      txid,
      logIndex: 0,
      currency: "USDT",
      eventFrom: "somebody",
      eventTo: eventAddressOf(address),
      amount: amount("25.5"),
      diesAfter: 1_700_000_060_000,
      expiresAt: 1_700_000_060_000,
    }],
  };
}

test("after an older copy was restored, nothing is handed out twice and lost payments are seen", async () => {
  const folder = await Deno.makeTempDir();
  const walletFile = `${folder}/wallet.json`;
  const wallet = await createWallet({
    file: walletFile,
    passphrase: "0123456789abcdef0123456789abcdef",
    passphraseIsRandom: true,
    networks: ["TRX"],
    development: true,
  });
  const account = wallet.networks.TRX;
  assert(account !== undefined);
  const { address: derive } = publicAddresses("TRX", account);
  const chain = paperChain("TRX", { deriveAddress: derive, hotWallet: account.hotWallet });
  const openBook = (sql: Sql) => new AddressBook(sql, new Map([["TRX", chain]]));
  const handOut = async (book: AddressBook, merchantId: string, count: number) =>
    await Promise.all(
      Array.from({ length: count }, async () => (await book.take("TRX", merchantId)).address),
    );

  await using database = await testDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const copyName = `${name}_copy`;
  const serverUrl = Object.assign(new URL(database.url), { pathname: "/postgres" }).href;
  const server = connect(serverUrl, { max: 1 });
  try {
    const merchantId = await addMerchant(database.sql);
    await registerWallets(database.sql, wallet, ["TRX"]);
    await attestWallet(database.sql, "TRX", networkFingerprint(wallet, "TRX") ?? "");
    await database.sql`
      INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
      VALUES ('TRX', 'solid', 100, '100', now(), now(), 100, 99)`;
    // one node, before and after the copy was made: it goes on with the indexes it had taken
    const early = database.connect({ max: 1 });
    const firstNode = openBook(early);
    const known = await handOut(firstNode, merchantId, 3);
    await database.sql.end({ timeout: 2 });
    await early.end({ timeout: 2 });
    await server`CREATE DATABASE ${server(copyName)} TEMPLATE ${server(name)}`;

    const late = database.connect({ max: 2 });
    // what is left of its first fifty, and a node that started later
    const indexes = Array.from({ length: 47 }, (_, n) => n + 3);
    await late`
      INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
      SELECT * FROM unnest(${indexes.map(derive)}::text[], ${indexes.map(() => "TRX")}::text[],
        ${indexes.map(() => merchantId)}::text[], ${indexes.map((i) => `adr_${i}`)}::text[],
        ${indexes}::int[])`;
    const forgotten = [
      ...indexes.map(derive),
      ...await handOut(openBook(late), merchantId, 20),
    ];

    const url = Object.assign(new URL(database.url), { pathname: `/${copyName}` }).href;
    const sql = connect(url, { max: 4 });
    try {
      // without recovery the very next address is one that a customer has already
      const [before] = await sql<{ next: number }[]>`SELECT next_index AS next FROM hub.wallet`;
      assert(forgotten.includes(derive(before?.next ?? -1)));

      const printed: string[] = [];
      const out = {
        log: (text: string) => printed.push(text),
        error: (text: string) => printed.push(text),
      };
      const env = { DATABASE_URL: url, WALLET_FILE: walletFile, DATA_DIR: folder };
      const command = (...args: string[]) =>
        walletCommand(args, env, () => Promise.resolve(""), out);
      assertEquals(await command("recover", "--network", "TRX", "--gap", "100"), 0, printed.join());
      assert(printed.join().includes("index 150; 147 addresses"), printed.join());
      // as the page of restores says it: the scan meets by itself what came since the copy, unless it has run
      assert(printed.join().includes("goes on from block 100."), printed.join());
      assert(printed.join().includes("If the service has run since"), printed.join());
      assert(printed.join().includes("deno task admin rescan TRX <from> 100"), printed.join());
      // the copy is another history, which the service would notice as it starts
      await compareHistory(sql, "fov_copy", 0);

      const fresh = await handOut(openBook(sql), merchantId, 60);
      const all = [...known, ...forgotten, ...fresh];
      assertEquals(new Set(all).size, all.length);

      // a customer pays to an address that the restored database has never heard of
      const journal = openJournal(sql);
      const lost = forgotten.at(-1) ?? "";
      for (const view of ["head", "solid"] as const) {
        const told = await recordBlocks(
          sql,
          chain,
          [paymentTo(lost, 101), paymentTo(known[0] ?? "", 102)],
          view,
        );
        assertEquals([...told], [merchantId]);
      }
      await journal.retryBroken();
      await journal.wakeAll();
      await until(async () =>
        (await sql`SELECT FROM book.deposit WHERE status = 'CONFIRMED'`).length === 1
      );
      await journal.stop(5_000);
      assertEquals((await readHealth(sql, 30)).quarantinedRows, 2);
      printed.length = 0;
      assertEquals(await command("unclaimed"), 0);
      assert(printed.join().includes(lost) && printed.join().includes("25.5"), printed.join());
      assertEquals(printed.join().includes(known[0] ?? ""), false);

      // nothing lets it be consumed as if it were a merchant's
      const released = await sql`
        UPDATE book.inbox SET quarantine = NULL WHERE merchant_id = 'mer_lost'`.catch((error) =>
        String(error)
      );
      assert(String(released).includes("inbox_of_lost_waits"), String(released));

      const txid = paymentTo(lost, 101).transfers[0]?.txid ?? "";
      assertEquals(await command("close", "--network", "TRX", txid), 1);
      // a deposit by hand that names it
      await sql`
        UPDATE book.deposit SET txid = ${txid}, log_index = -1 WHERE status = 'CONFIRMED'`;
      assertEquals(await command("close", "--network", "TRX", txid), 0, printed.join());
      assertEquals((await readHealth(sql, 30)).quarantinedRows, 0);

      // a second time: its own gap, and what a node took and had not handed out
      printed.length = 0;
      assertEquals(await command("recover", "--network", "TRX", "--gap", "10"), 0);
      assert(/^TRX: the next address has index 260; 50 /.test(printed.join()), printed.join());
    } finally {
      await sql.end({ timeout: 2 });
    }
  } finally {
    await server`DROP DATABASE IF EXISTS ${server(copyName)} WITH (FORCE)`;
    await server.end({ timeout: 2 });
    await Deno.remove(folder, { recursive: true });
  }
});
