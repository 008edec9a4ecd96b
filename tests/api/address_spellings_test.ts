import { assertEquals } from "@std/assert";
import { treasuryPolicies } from "../../app/open/treasury_policy.ts";
import { loadConfig } from "../../app/config/config.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { addMerchant, amount, fund, openJournal, reserveCommand } from "../support/books.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { otherwise, spelledOnce, TWO_SPELLINGS } from "../support/two_spellings.ts";

const test = testNeeding(DATABASE);
const ADMIN = { permissions: ["read", "write", "payout", "admin:read", "admin:write"] };
const STRANGER = spelledOnce(1);
const OWN = spelledOnce(2);
const COLD = spelledOnce(3);

/** An interface to a chain whose addresses have several spellings, with a cold wallet. */
async function spellingApi(): Promise<TestApi> {
  const policy = {
    second: null,
    low: { native: amount("0"), USDT: amount("0"), USDC: amount("0") },
    cold: { address: COLD, levels: new Map() },
  };
  const api = await testApi({
    chains: new Map([["TRX" as Network, TWO_SPELLINGS]]),
    treasury: () => ({ policy, status: null }),
  });
  await leaveSpellings(api.sql);
  return api;
}

/**
 * Takes the schema's own rule away: TRX stands for a network here whose spelling cannot be told in SQL, and
 * the interface alone keeps it.
 */
async function leaveSpellings(sql: Sql): Promise<void> {
  await sql`ALTER TABLE book.withdrawal DROP CONSTRAINT withdrawal_destination_is_canonical`;
  await sql`ALTER TABLE book.settlement_address DROP CONSTRAINT settlement_address_is_canonical`;
  await sql`ALTER TABLE hub.reseller DROP CONSTRAINT reseller_address_is_canonical`;
}

/** Makes {@linkcode OWN} a deposit address of a merchant. */
async function handOut({ sql }: Pick<TestApi, "sql">, merchantId: string): Promise<void> {
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES (${OWN}, 'TRX', ${merchantId}, ${newId("adr")}, 7)`;
}

test("what a merchant may not pay out to is found under every spelling", async (t) => {
  await using api = await spellingApi();
  const admin = await api.addKey(null, ADMIN);
  const { id, key } = await api.addMerchant("100");
  await handOut(api, id);
  const places = { "a deposit address of its own": OWN, "the cold wallet": COLD };
  for (
    const [place, address] of Object.entries({
      ...places,
      "the hot wallet": TWO_SPELLINGS.hotWallet,
    })
  ) {
    for (const spelling of [address, otherwise(address)]) {
      await t.step(`${place}: ${spelling}`, async () => {
        const withdrawal = await api.call("POST", "/api/withdrawals", {
          key,
          body: { amount: "10", currency: "USDT", network: "TRX", destination: spelling },
        });
        assertEquals([withdrawal.status, withdrawal.body.code], [400, "destination_is_ours"]);
        const listed = await api.call("POST", "/api/settlement-addresses", {
          key,
          body: { address: spelling, network: "TRX", label: "x" },
        });
        assertEquals([listed.status, listed.body.details[0].code], [400, "own_address"]);
        const reseller = await api.call("POST", "/api/resellers", {
          key: admin,
          body: { name: "x", withdrawalAddress: spelling, network: "TRX", merchantId: id },
        });
        assertEquals([reseller.status, reseller.body.details[0].code], [400, "own_address"]);
      });
    }
  }
});

test("a withdrawal keeps and answers the one spelling of its destination", async () => {
  await using api = await spellingApi();
  const { key } = await api.addMerchant("100");
  const { status, body } = await api.call("POST", "/api/withdrawals", {
    key,
    body: { amount: "10", currency: "USDT", network: "TRX", destination: otherwise(STRANGER) },
  });
  assertEquals([status, body.destination], [201, STRANGER]);
  const [kept] = await api.sql`SELECT destination FROM book.outgoing`;
  assertEquals(kept?.["destination"], STRANGER);
  const { withdrawals } = (await api.call("GET", "/api/withdrawals", { key })).body;
  assertEquals(withdrawals[0].destination, STRANGER);
  const { transactions } = (await api.call("GET", "/api/transactions", { key })).body;
  assertEquals(transactions.map((one: { to: string }) => one.to).includes(STRANGER), true);
});

test("a reseller is pinned to a place and not to the spelling of it", async () => {
  await using api = await spellingApi();
  const admin = await api.addKey(null, ADMIN);
  const made = await api.call("POST", "/api/resellers", {
    key: admin,
    body: { name: "Line", withdrawalAddress: otherwise(STRANGER), network: "TRX" },
  });
  assertEquals([made.status, made.body.withdrawalAddress], [201, STRANGER]);
  const { id, merchantId } = made.body;
  await fund(api.sql, api.journal, merchantId, "100");
  const key = await api.addKey(merchantId, { role: "RESELLER" });
  const withdraw = (destination: string) =>
    api.call("POST", "/api/withdrawals", {
      key,
      body: { amount: "10", currency: "USDT", network: "TRX", destination },
    });
  assertEquals((await withdraw(otherwise(STRANGER))).status, 201);
  assertEquals((await withdraw(spelledOnce(4))).body.code, "destination_not_registered");
  const moved = await api.call("PUT", `/api/resellers/${id}`, {
    key: admin,
    body: { withdrawalAddress: otherwise(spelledOnce(4)) },
  });
  assertEquals(moved.body.withdrawalAddress, spelledOnce(4));
  assertEquals((await withdraw(otherwise(spelledOnce(4)))).status, 201);
});

test("the whitelist has a place once, and a settlement finds it under every spelling", async () => {
  await using api = await spellingApi();
  const { id, key } = await api.addMerchant("100");
  const list = (address: string) =>
    api.call("POST", "/api/settlement-addresses", {
      key,
      body: { address, network: "TRX", label: "x" },
    });
  const listed = await list(otherwise(STRANGER));
  assertEquals([listed.status, listed.body.address], [201, STRANGER]);
  assertEquals((await list(STRANGER)).body.code, "settlement_address_exists");
  const outcome = await api.journal.ask(id, {
    type: "activate-settlement-address",
    at: Date.now(),
    addressId: listed.body.id,
    active: true,
    audit: { auditId: newId("aud"), actor: "key_x", action: "x", requestId: "req_test" },
  }, 60_000);
  assertEquals(outcome.kind, "done");
  const settle = (destinationAddress: string) =>
    api.call("POST", "/api/settlements", {
      key,
      headers: { "idempotency-key": "k" },
      body: {
        currency: "USDT",
        requestedAmount: "10",
        destinationAddress,
        destinationNetwork: "TRX",
      },
    });
  const first = await settle(otherwise(STRANGER));
  assertEquals([first.status, first.body.destinationAddress], [201, STRANGER]);
  // the same request, in another spelling of its place
  assertEquals((await settle(STRANGER)).body.id, first.body.id);
});

test("an administrator names an address that is swept in any spelling", async () => {
  await using api = await spellingApi();
  const admin = await api.addKey(null, ADMIN);
  const { id } = await api.addMerchant();
  await handOut(api, id);
  const writeOff = () =>
    api.call("POST", "/api/admin/sweeps/write-off", {
      key: admin,
      body: { network: "TRX", address: otherwise(OWN), currency: "USDT", amount: "1", reason: "x" },
    });
  assertEquals((await writeOff()).status, 404);
  await api.sql`
    INSERT INTO book.sweep_address (network, address, currency, merchant_id)
    VALUES ('TRX', ${OWN}, 'USDT', ${id})`;
  // it is there; only that no node has been read yet keeps it from being judged
  assertEquals((await writeOff()).status, 503);
});

test("a cold address that is ours is refused in every spelling, and one that is not is kept in one", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await handOut(database, await addMerchant(sql));
  const chain = paperChain("TRX", TWO_SPELLINGS);
  const coldOf = async (text: string) => {
    const answer = loadConfig({ TRX_COLD_ADDRESS: text });
    if (!answer.ok) throw new Error(`Cannot read the settings: ${answer.faults.join()}`);
    const { config } = answer;
    const chains = new Map([["TRX" as Network, chain]]);
    const policies = await treasuryPolicies({ config, sql, chains, signerNetworks: [] });
    return policies.get("TRX")?.cold?.address;
  };
  assertEquals(await coldOf(otherwise(STRANGER)), STRANGER);
  for (const address of [OWN, chain.hotWallet]) {
    for (const spelling of [address, otherwise(address)]) {
      const told = await coldOf(spelling).catch((error: Error) => error.message);
      assertEquals(
        told,
        "Cannot use the cold address as it is one of the service's own: TRX_COLD_ADDRESS",
      );
    }
  }
});

test("a payout that was kept in another spelling is paid by the transfer to its place", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await leaveSpellings(sql);
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  const command = reserveCommand({ destination: otherwise(STRANGER) });
  assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
  await journal.stop(1_000);
  const txid = "a".repeat(64);
  const expiresAt = 1_700_000_060_000;
  const { outgoingId } = command;
  await commitSigned(sql, [{
    outgoingId,
    merchantId,
    network: "TRX",
    txid,
    bytes: "{}",
    expiresAt,
  }]);
  const chain = paperChain("TRX", TWO_SPELLINGS);
  const block = {
    height: 9,
    parentHeight: 8,
    hash: "9",
    parentHash: "8",
    time: 1_700_000_000_000,
    tick: 1_700_000_000_000,
    transactions: [{ txid, success: true, failure: null, fee: amount("6") }],
    transfers: [{
      txid,
      logIndex: 0,
      currency: "USDT" as const,
      eventFrom: chain.eventAddress(chain.hotWallet),
      eventTo: chain.eventAddress(STRANGER),
      amount: amount("10"),
      expiresAt,
      diesAfter: expiresAt,
    }],
  };
  await recordBlocks(sql, chain, [block], "solid");
  const [row] = await sql`
    SELECT o.status, a.outcome FROM book.outgoing o JOIN book.attempt a ON a.outgoing_id = o.id
    WHERE o.id = ${outgoingId}`;
  assertEquals([row?.["status"], row?.["outcome"]], ["final", "paid"]);
});
