import { assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { Actors } from "../../actors/runtime/actor.ts";
import { treasuryActors } from "../../actors/treasury/treasury_actor.ts";
import type { BroadcastOutcome, Chain } from "../../chains/chain.ts";
import { classifyBroadcast } from "../../chains/tron/pay/broadcast.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { createTronChain } from "../../chains/tron/tron_chain.ts";
import { HDKey } from "@scure/bip32";
import { networkKeys, publicAddresses, signingKey } from "../../chains/wallet/network_keys.ts";
import { connectionFault } from "../../ledger/database/database_errors.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { addMerchant, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain, paperSigner } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { startScriptedNode } from "../tron/support/scripted_node.ts";

/** A node whose URL has nothing secret. */
const PLAIN = new ChainNode({ url: "http://node", requestTimeoutMs: 1 });

const test = testNeeding(DATABASE);

/** Every answer to a broadcast that the chain's documentation lists, but for success. */
const CODES = [
  "SIGERROR",
  "CONTRACT_VALIDATE_ERROR",
  "CONTRACT_EXE_ERROR",
  "BANDWITH_ERROR",
  "DUP_TRANSACTION_ERROR",
  "TAPOS_ERROR",
  "TOO_BIG_TRANSACTION_ERROR",
  "TRANSACTION_EXPIRATION_ERROR",
  "SERVER_BUSY",
  "NO_CONNECTION",
  "NOT_ENOUGH_EFFECTIVE_CONNECTION",
  "BLOCK_UNSOLIDIFIED",
  "OTHER_ERROR",
];

test("whatever a node says to a broadcast, the same bytes are sent again, and nothing else", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  const id = newId("out");
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    VALUES (${id}, ${merchantId}, 'payout', 'wd_1', 'TRX', 'USDT', 1, 'somewhere', 'queued', now(), now())`;
  const answers = [
    ...CODES.map((code) => ({ status: 200, text: JSON.stringify({ code, message: "6e6f" }) })),
    { status: 500, text: "" },
    { status: 429, text: "" },
    { status: 200, text: "<html>" },
  ];
  const sent: string[] = [];
  const chain = paperChain("TRX", {
    broadcast: ({ txid, bytes }): Promise<BroadcastOutcome> => {
      const answer = answers[sent.length % answers.length] ?? { status: 500, text: "" };
      sent.push(`${txid} ${bytes}`);
      return Promise.resolve(classifyBroadcast(PLAIN, { ...answer, retryAfterMs: null }, txid));
    },
  });
  let now = 0;
  const treasury = new Actors(treasuryActors({
    sql,
    chains: new Map<Network, Chain>([["TRX", chain]]),
    signer: paperSigner(),
    now: Date.now,
    monotonic: () => now,
    node: "node",
    leaseMs: 60_000,
    resendMs: 1,
    attemptLimit: 3,
    wakeMerchants: () => {},
    onLook: () => {},
    onLiquidity: () => {},
    onSignerState: () => {},
  }));
  while (sent.length <= answers.length) {
    const before = sent.length;
    now += 10;
    treasury.tell("TRX", { type: "poll" });
    await until(() => sent.length > before);
  }
  await treasury.stop(5_000);
  assertEquals(new Set(sent).size, 1);
  const rows = await sql<{ status: string; attempts: number; outcome: string | null }[]>`
    SELECT o.status, o.attempts, a.outcome FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id`;
  assertEquals(rows.map((row) => ({ ...row })), [{ status: "signed", attempts: 1, outcome: null }]);
});

test("a signature of a commit that this process was never told of is confirmed before it is sent", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  const id = newId("out");
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, attempts, created_at, updated_at)
    VALUES (${id}, ${merchantId}, 'payout', 'wd_1', 'TRX', 'USDT', 1, 'somewhere', 'signed', 1, now(), now())`;
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit)
    VALUES (${id}, 1, ${merchantId}, 'TRX', ${
    "ab".repeat(32)
  }, 'bytes', now() + interval '1 day', ${Date.now() + 86_400_000}, now(), 0)`;
  const happened: string[] = [];
  let refusals = 2;
  const watched = new Proxy(sql, {
    apply: (target, self, args: unknown[]) => {
      const text = Array.isArray(args[0]) ? args[0].join("?") : "";
      if (!text.includes("pg_logical_emit_message")) return Reflect.apply(target, self, args);
      happened.push(refusals > 0 ? "not confirmed" : "confirmed");
      if (refusals-- > 0) {
        return Promise.reject(connectionFault("COMMIT_NOT_REPLICATED", "of a test"));
      }
      return Reflect.apply(target, self, args);
    },
  });
  const chain = paperChain("TRX", {
    broadcast: (): Promise<BroadcastOutcome> => {
      happened.push("sent");
      return Promise.resolve({ category: "accepted", retryable: true });
    },
  });
  let now = 0;
  const treasury = new Actors(treasuryActors({
    sql: watched,
    chains: new Map<Network, Chain>([["TRX", chain]]),
    signer: paperSigner(),
    now: Date.now,
    monotonic: () => now,
    node: "node",
    leaseMs: 60_000,
    resendMs: 1,
    attemptLimit: 3,
    wakeMerchants: () => {},
    onLook: () => {},
    onLiquidity: () => {},
    onSignerState: () => {},
  }));
  while (happened.length < 5) {
    const before = happened.length;
    now += 10;
    treasury.tell("TRX", { type: "poll" });
    await until(() => happened.length > before);
  }
  await treasury.stop(5_000);
  assertEquals(happened.slice(0, 5), [
    "not confirmed",
    "not confirmed",
    "confirmed",
    "sent",
    "sent",
  ]);
});

test("every configured node is offered the bytes, also those behind one that fails", async () => {
  const path = "/wallet/broadcasttransaction";
  const txid = "ab".repeat(32);
  await using failing = startScriptedNode({ [path]: () => new Response("", { status: 503 }) });
  await using unsure = startScriptedNode({ [path]: () => ({ code: "SERVER_BUSY", message: "" }) });
  await using knowing = startScriptedNode({
    [path]: () => ({ code: "DUP_TRANSACTION_ERROR", message: "" }),
  });
  const nodes = [failing, unsure, knowing];
  const keys = networkKeys(
    HDKey.fromMasterSeed(crypto.getRandomValues(new Uint8Array(32))),
    "TRX",
  );
  const chain = createTronChain({
    network: "TRX",
    nodeUrls: nodes.map(({ url }) => url),
    contracts: {},
    deposits: publicAddresses("TRX", { depositXpub: keys.deposits.publicExtendedKey }),
    hotWallet: signingKey(keys, "TRX", "hot").address,
  });
  const bytes = JSON.stringify({ txID: txid, raw_data_hex: "00", signature: ["00"] });
  for (let times = 1; times <= 2; times++) {
    const outcome = await chain.broadcast({ txid, bytes, expiresAt: 1 });
    assertEquals(outcome.category, "known");
    for (const node of nodes) {
      assertEquals(node.requests.map(({ body }) => body), Array(times).fill(bytes));
    }
  }
});
