/**
 * Large deposits of which one node told something that is not so: nothing of it is final, and nothing
 * of it is credited.
 *
 * @module
 */

import { assertEquals, assertRejects } from "@std/assert";
import { claimTransaction } from "../../actors/watcher/claim_transaction.ts";
import { DepositProver } from "../../actors/watcher/deposit_prover.ts";
import { judgeDiscard } from "../../actors/watcher/judge_discard.ts";
import { rescanBlocks } from "../../actors/watcher/rescan_blocks.ts";
import type { Block, BlockAnswer, Chain } from "../../chains/chain.ts";
import {
  readDepositProofRule,
  renewDepositProofRule,
  setDepositProofRule,
} from "../../ledger/watcher/deposit_proof_rule.ts";
import { readAwaitedProof } from "../../ledger/watcher/deposit_proofs.ts";
import { discardAwaitedProof } from "../../ledger/watcher/contested_transfers.ts";
import { newWallet, withChain } from "../dev_chain/support/chain.ts";
import { amount, booksFaults, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { adapterOver, addWatched, watch } from "./support/watch.ts";
import type { SecondNode } from "../../actors/watcher/second_node.ts";

const test = testNeeding({ ...DATABASE, write: true });

type Transfers = Block["transfers"];

/** A chain of which the first node lies, and a second one that does not. */
async function withLiar(
  steps: (rig: {
    readonly sql: Awaited<ReturnType<typeof testDatabase>>["sql"];
    readonly merchantId: string;
    readonly liar: Chain;
    readonly node: SecondNode;
    pay(value: string): Promise<string>;
    lie(how: ((transfers: Transfers) => Transfers) | null): void;
    scan(): Promise<void>;
    rescan(): Promise<void>;
    look(): Promise<void>;
    wake(): void;
    /** Available and pending. */
    balance(): Promise<string | undefined>;
  }) => Promise<void>,
): Promise<void> {
  await withChain(async (chain) => {
    await using database = await testDatabase();
    const { sql } = database;
    const address = newWallet().base58;
    const merchantId = await addWatched(sql, address);
    const real = adapterOver([chain.url], chain.usdt);
    let how: ((transfers: Transfers) => Transfers) | null = null;
    const told = (answer: BlockAnswer): BlockAnswer =>
      how === null || answer.kind !== "block" || answer.block.transfers.length === 0 ? answer : {
        ...answer,
        block: { ...answer.block, transfers: how(answer.block.transfers) },
      };
    const liar = new Proxy(real, {
      get(target, name) {
        if (name === "block") {
          return async (...args: Parameters<Chain["block"]>) => told(await target.block(...args));
        }
        if (name === "blocks") {
          return async function* (...args: Parameters<Chain["blocks"]>) {
            for await (const answer of target.blocks(...args)) yield told(answer);
          };
        }
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const watcher = watch(sql, () => liar);
    const { journal } = watcher;
    const wake = (id = merchantId) => journal.wake(id);
    const node: SecondNode = { name: "second.example", chain: real };
    const prover = new DepositProver({ sql, chain: liar, nodes: [node], now: Date.now, wake });
    await chain.mine(5);
    await watcher.look();
    await setDepositProofRule(sql, "TRX", amount("50"));
    await steps({
      sql,
      merchantId,
      liar,
      node,
      pay: async (value) =>
        (await chain.post("/dev/transfer", { to: address, amount: value })).txid,
      lie: (next) => how = next,
      scan: async () => {
        await chain.mine(6);
        await watcher.lookOn();
      },
      rescan: async () => {
        const { readSolid } = watcher.status();
        const deps = { sql, chain: liar, network: "TRX", stopped: null, wake } as const;
        await rescanBlocks(deps, 1, readSolid ?? 0, AbortSignal.timeout(60_000));
      },
      look: async () => {
        await sql`UPDATE book.deposit_proof SET next_ask_at = now()`;
        await prover.poll();
      },
      wake,
      balance: async () => {
        const [row] = await sql<{ line: string }[]>`
          SELECT trim_scale(available) || ' / ' || trim_scale(pending) AS line FROM book.balance
          WHERE merchant_id = ${merchantId}`;
        return row?.line;
      },
    });
    assertEquals(await booksFaults(sql), []);
    await journal.stop(1_000);
  });
}

const doubled = (transfers: Transfers) =>
  transfers.map((one) => ({ ...one, amount: amount("200") }));

test("what one node said wrongly of a large transfer is replaced by what is read later, and proven then", () =>
  withLiar(async ({ sql, merchantId, pay, lie, scan, rescan, look, balance }) => {
    lie(doubled);
    const txid = await pay("100");
    await scan();
    await until(async () => await balance() === "0 / 200");
    await look();
    const proof = async () => {
      const [row] = await sql`
        SELECT trim_scale(amount)::text AS amount, is_disputed, contested, tries FROM book.deposit_proof`;
      return { ...row };
    };
    assertEquals(await proof(), { amount: "200", is_disputed: true, contested: true, tries: 1 });

    // the bound is taken away, by a node without it and by all: what is disputed stays
    await setDepositProofRule(sql, "TRX", null);
    assertEquals(await readDepositProofRule(sql, "TRX"), amount("50"), "another node has it");
    await renewDepositProofRule(sql, "TRX", amount("50"));
    await sql`UPDATE hub.deposit_proof_rule SET kept_at = now() - interval '61 s'`;
    await setDepositProofRule(sql, "TRX", null);
    assertEquals(await readDepositProofRule(sql, "TRX"), null);
    await look();
    assertEquals(await balance(), "0 / 200");
    await assertRejects(
      () => sql`UPDATE book.deposit_proof SET evidence = '{"waived": "why"}'`,
      Error,
      "deposit_proof_contested",
    );

    lie(null);
    await rescan();
    assertEquals(await proof(), { amount: "100", is_disputed: false, contested: true, tries: 0 });
    assertEquals(await balance(), "0 / 200", "nothing is credited before its proof");
    // no writer can release it as anything else than was proven
    await sql`UPDATE book.deposit_proof SET evidence = '{"node": "x"}', amount = 150`;
    await assertRejects(
      () => sql`UPDATE book.inbox SET quarantine = NULL WHERE txid = ${txid} AND phase = 'solid'`,
      Error,
      "no second node has proven it",
    );
    await sql`UPDATE book.deposit_proof SET evidence = NULL, amount = 100`;
    await look();
    await until(async () => await balance() === "100 / 0");
    const [swept] = await sql`
      SELECT trim_scale(amount)::text AS amount FROM book.sweep_item WHERE merchant_id = ${merchantId}`;
    assertEquals(swept?.amount, "100");
  }));

test("a claim replaces it as well", () =>
  withLiar(async ({ sql, merchantId, liar, pay, lie, scan, look, wake, balance }) => {
    lie(doubled);
    const txid = await pay("100");
    await scan();
    await until(async () => await balance() === "0 / 200");
    await look();
    lie(null);
    const claim = { sql, chain: liar, network: "TRX", stopped: null, wake } as const;
    assertEquals((await claimTransaction(claim, merchantId, txid, 5_000)).status, "recorded");
    await look();
    await until(async () => await balance() === "100 / 0");
    assertEquals(
      (await claimTransaction(claim, merchantId, txid, 5_000)).status,
      "already_credited",
    );
  }));

test("a transfer that no node shows any more is discarded, and waits again when one does", () =>
  withLiar(async ({ sql, merchantId, liar, node, pay, lie, scan, rescan, look, wake, balance }) => {
    let invented = "";
    lie((transfers) =>
      transfers.flatMap((one) => {
        invented = "e".repeat(64);
        return [one, { ...one, txid: invented, amount: amount("500") }];
      })
    );
    await pay("100");
    await scan();
    await until(async () => await balance() === "0 / 600");
    await look();
    await until(async () => await balance() === "100 / 500");
    const key = { merchantId, network: "TRX", txid: invented, logIndex: 0 } as const;
    const judge = async () => {
      const transfer = await readAwaitedProof(sql, key);
      if (transfer === null) throw new Error("Cannot judge what does not wait");
      const deps = { chain: liar, nodes: [node] };
      return { transfer, judged: await judgeDiscard(deps, transfer, Date.now(), 10_000) };
    };
    assertEquals((await judge()).judged.kind, "not_so", "the wrong node is still configured");
    lie(null);
    const discard = async () => {
      const { transfer, judged } = await judge();
      if (judged.kind !== "absent") throw new Error(`Cannot discard it: ${judged.why}`);
      const audit = {
        id: `aud_${crypto.randomUUID()}`,
        actor: "key_op",
        action: "inbox.discard",
        subject: invented,
        merchantId,
        refused: null,
        requestId: null,
        createdAt: Date.now(),
      };
      return await discardAwaitedProof(sql, "TRX", transfer, judged.evidence, "invented", audit);
    };
    assertEquals(await discard(), true);
    wake();
    await until(async () => await balance() === "100 / 0");
    const status = async () =>
      (await sql`SELECT status FROM book.deposit WHERE txid = ${invented}`)[0]?.status;
    assertEquals(await status(), "FAILED");
    assertEquals(await readAwaitedProof(sql, key), null);
    await look();
    assertEquals(await balance(), "100 / 0");

    // a node shows it once more: it waits, and is not credited by that either
    lie((transfers) => [
      ...transfers,
      ...transfers.slice(0, 1).map((one) => ({ ...one, txid: invented, amount: amount("500") })),
    ]);
    await rescan();
    assertEquals((await readAwaitedProof(sql, key))?.isContested, true);
    await look();
    assertEquals(await balance(), "100 / 0");
    lie(null);
    assertEquals(await discard(), true);
    const [lines] = await sql`
      SELECT count(*)::int AS n FROM book.audit WHERE action = 'inbox.discard'`;
    assertEquals(lines?.n, 2);
  }));
