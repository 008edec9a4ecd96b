/**
 * The real thing beside the model: the journals of two nodes on one database, the chain's part
 * played by the same functions that watcher and treasury use.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Journal } from "../../../actors/journal/journal.ts";
import { newId } from "../../../actors/runtime/ids.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { addMerchant, booksFaults, openJournal, SOMEWHERE, until } from "../../support/books.ts";
import { type FaultyStore, faultyStore } from "./faulty_store.ts";
import { Bank, type Heard, type Merchant } from "./bank_model.ts";

/** A run of the property: model, nodes, and what the merchants have not heard yet. */
export interface World {
  readonly sql: Sql;
  /** Each keeps merchants in memory that the other one changes. */
  readonly nodes: readonly [Journal, Journal];
  /** The database that the nodes write to. */
  readonly stores: readonly [FaultyStore, FaultyStore];
  readonly bank: Bank;
  readonly unheard: Map<Merchant, Heard[]>;
}

/** Opens a world with three merchants: a reseller, one on its line, one that earns its own margin. */
export async function openWorld(sql: Sql): Promise<World> {
  const reseller = await openMerchant(sql, { rate: 0n, marginRate: 0n, marginTo: null });
  const lines = [
    await openMerchant(sql, { rate: 12_500n, marginRate: 500_000n, marginTo: reseller }),
    await openMerchant(sql, { rate: 0n, marginRate: 333_000n, marginTo: "itself" }),
  ];
  const merchants = [...lines, reseller];
  const stores = [faultyStore(sql), faultyStore(sql)] as const;
  const [first, second] = stores;
  const nodes = [openJournal(sql, { store: first }), openJournal(sql, { store: second })] as const;
  return { sql, nodes, stores, bank: new Bank(merchants), unheard: new Map() };
}

/** Stops both nodes. */
export async function closeWorld({ nodes }: World): Promise<void> {
  await Promise.all(nodes.map((node) => node.stop(1_000)));
}

async function openMerchant(
  sql: Sql,
  line: Pick<Merchant, "rate" | "marginRate" | "marginTo">,
): Promise<Merchant> {
  const id = await addMerchant(sql);
  const addressId = newId("adr");
  const earner = line.marginTo === "itself" ? id : line.marginTo?.id ?? null;
  await sql`
    UPDATE book.merchant SET deposit_commission_rate = ${Number(line.rate)} / 1000000.0,
      margin_rate = ${Number(line.marginRate)} / 1000000.0, margin_beneficiary = ${earner}
    WHERE merchant_id = ${id}`;
  await sql`
    INSERT INTO book.deposit_address (id, merchant_id, network, address, wallet_index, kind, identifier, created_at)
    VALUES (${addressId}, ${id}, 'TRX', ${addressId}, 0, 'issued', 'customer', now())`;
  await sql`
    INSERT INTO book.settlement_address (id, merchant_id, network, address, label, active, created_at)
    VALUES (${newId("adr")}, ${id}, 'TRX', ${SOMEWHERE}, 'cold', true, now())`;
  return {
    ...line,
    id,
    address: addressId,
    addressId,
    available: 0n,
    pending: 0n,
    reserved: 0n,
    isOpen: false,
    isActivated: false,
    events: 0,
  };
}

/** Waits until every merchant has heard everything, and lets the model hear it too. */
export async function settleDown({ sql, nodes, bank, unheard }: World): Promise<void> {
  for (const [merchant, all] of unheard) for (const heard of all) bank.hear(merchant, heard);
  unheard.clear();
  await until(async () => {
    await Promise.all(nodes.map((node) => node.wakeAll()));
    const [row] =
      await sql`SELECT count(*) FROM book.inbox WHERE consumed_at IS NULL AND quarantine IS NULL`;
    return row?.["count"] === "0";
  });
  // what is still in the mailboxes would hear of the next step before it is asked
  await Promise.all(nodes.map((node) => pass(node, bank)));
}

/** Returns when a node has dealt with everything that it was sent before. */
async function pass(node: Journal, { merchants: [someone] }: Bank): Promise<void> {
  const nothing = { type: "approve-withdrawal", at: 0, withdrawalId: "wd_none" } as const;
  const outcome = await node.ask(someone?.id ?? "", nothing, 60_000);
  assertEquals(outcome.kind, "refused");
}

/** Compares the database with the model, and with the rules that hold whatever happens. */
export async function compare({ sql, bank }: World): Promise<void> {
  const ids = bank.merchants.map(({ id }) => id);
  assertEquals(await balances(sql, ids), modelBalances(bank), "balances");
  const payouts = await sql`
    SELECT w.id, w.status, coalesce(o.status, 'none') AS outgoing, s.status AS settlement
    FROM book.withdrawal w LEFT JOIN book.outgoing o ON o.id = w.outgoing_id
    LEFT JOIN book.settlement s ON s.id = w.settlement_id
    WHERE w.merchant_id = ANY (${ids}::text[]) ORDER BY w.id`;
  assertEquals(
    payouts.map((row) => ({ ...row })),
    bank.withdrawals.map(({ id, status, outgoing, settlement }) => ({
      id,
      status,
      outgoing,
      settlement: settlement?.status ?? null,
    })).sort((a, b) => a.id < b.id ? -1 : 1),
    "payouts",
  );
  const deposits = await sql`
    SELECT txid, status, (amount * 1000000)::bigint::text AS amount FROM book.deposit
    WHERE merchant_id = ANY (${ids}::text[]) ORDER BY txid`;
  assertEquals(
    deposits.map((row) => ({ ...row })),
    [...bank.deposits.values()].map(({ txid, status, amount }) => ({
      txid,
      status,
      amount: `${amount}`,
    })).sort((a, b) => a.txid < b.txid ? -1 : 1),
    "deposits",
  );
  assertEquals(await faults(sql), [], "rules");
}

async function balances(sql: Sql, ids: readonly string[]): Promise<unknown> {
  const rows = await sql`
    SELECT m.merchant_id AS id, (coalesce(b.available, 0) * 1000000)::bigint::text AS available,
      (coalesce(b.pending, 0) * 1000000)::bigint::text AS pending,
      (coalesce(b.reserved, 0) * 1000000)::bigint::text AS reserved,
      (SELECT count(*)::int FROM book.outbox o WHERE o.merchant_id = m.merchant_id) AS events
    FROM book.merchant m LEFT JOIN book.balance b USING (merchant_id)
    WHERE m.merchant_id = ANY (${[...ids]}::text[]) ORDER BY m.merchant_id`;
  const [held] = await sql`
    SELECT (coalesce(sum(CASE WHEN to_account = 'margin_held' THEN amount ELSE -amount END), 0) * 1000000)::bigint::text AS held
    FROM book.entry WHERE merchant_id = ANY (${[...ids]}::text[])
      AND 'margin_held' IN (to_account, from_account)`;
  return { held: held?.["held"], merchants: rows.map((row) => ({ ...row })) };
}

function modelBalances(bank: Bank): unknown {
  const merchants = bank.merchants.map(({ id, available, pending, reserved, events }) => ({
    id,
    available: `${available}`,
    pending: `${pending}`,
    reserved: `${reserved}`,
    events,
  })).sort((a, b) => a.id < b.id ? -1 : 1);
  return { held: `${bank.held}`, merchants };
}

/** Checks that hold in every state. */
async function faults(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ fault: string }[]>`
    SELECT format('more than one living transfer of %s', payment_id) AS fault FROM book.outgoing
    WHERE status NOT IN ('dead', 'void') GROUP BY payment_id HAVING count(*) > 1
    UNION ALL
    SELECT format('%s is %s and its transfer %s', w.id, w.status, o.status)
    FROM book.withdrawal w JOIN book.outgoing o ON o.id = w.outgoing_id
    WHERE (w.status IN ('FAILED', 'CANCELLED') AND o.status <> 'void')
       OR (w.status = 'CONFIRMED' AND o.status <> 'final')
    UNION ALL
    SELECT format('%s was paid %s times', outgoing_id, count(*)) FROM book.attempt
    WHERE outcome = 'paid' GROUP BY outgoing_id HAVING count(*) > 1
    UNION ALL
    SELECT format('quarantined: %s %s', phase, quarantine) FROM book.inbox WHERE quarantine IS NOT NULL`;
  return [...rows.map((row) => row.fault), ...await booksFaults(sql)];
}
