import { assertEquals } from "@std/assert";
import { z } from "zod";
import { addTransfer } from "../../support/books.ts";
import { readCursor } from "../../../ledger/watcher/cursor.ts";
import { eventually } from "./client.ts";
import { NODE_MS } from "./patience.ts";
import type { Rig } from "./matrix_rig.ts";

/** Amount of every deposit of the matrix. */
export const DEPOSIT = "100";
/** Funds of every merchant of a payout; below them the amount that it sends. */
export const FUNDS = "100";
export const PAYOUT = "10";

/** One payment of a cell, with a merchant of its own. */
export interface Subject {
  readonly merchantId: string;
  readonly key: string;
  /** Destination of the chain's transfer. */
  readonly address: string;
  /** Id of the deposit once it is known, or of the withdrawal. */
  paymentId: string | null;
  /** Transaction of the deposit. */
  txid: string | null;
  /** First block that may hold something of it. */
  readonly since: number;
}

/** A merchant with a deposit address without payments. */
export async function newDeposit(rig: Rig): Promise<Subject> {
  const { id: merchantId, key } = await rig.api.addMerchant();
  const { head } = await rig.info();
  const { status, body } = await rig.api.call("POST", "/api/deposit-address", {
    key,
    body: { network: rig.family.network, identifier: "customer" },
  });
  assertEquals(status, 201, JSON.stringify(body));
  const { address } = body;
  return { merchantId, key, address, paymentId: null, txid: null, since: head };
}

/** The customer pays. @param expiresInMs lifetime of the transaction in block time */
export async function pay(rig: Rig, subject: Subject, expiresInMs?: number): Promise<void> {
  const { body } = await rig.control("/dev/transfer", {
    to: subject.address,
    amount: DEPOSIT,
    currency: "USDT",
    expiresInMs,
  });
  subject.txid = z.object({ txid: z.string() }).parse(body).txid;
}

/** A merchant with money that asks for a payout. */
export async function newPayout(rig: Rig): Promise<Subject> {
  const { id: merchantId, key } = await rig.api.addMerchant();
  await addTransfer(rig.sql, merchantId, FUNDS, {
    network: rig.family.network,
    txid: crypto.randomUUID().replaceAll("-", "").padStart(64, "0"),
  });
  rig.engine.merchants.wake(merchantId);
  await eventually(
    "funds",
    async () => (await balanceOf(rig, merchantId)) === FUNDS,
    NODE_MS,
  );
  const { head } = await rig.info();
  const address = rig.family.someAddress();
  return { merchantId, key, address, paymentId: null, txid: null, since: head };
}

/** Asks for the payout. */
export async function withdraw(rig: Rig, subject: Subject): Promise<void> {
  const { status, body } = await rig.api.call("POST", "/api/withdrawals", {
    key: subject.key,
    body: {
      amount: PAYOUT,
      currency: "USDT",
      network: rig.family.network,
      destination: subject.address,
      referenceId: "payout",
    },
  });
  assertEquals(status, 201, JSON.stringify(body));
  subject.paymentId = body.withdrawalId;
}

/** Waits for a status of the payment, making blocks meanwhile where asked to. */
export async function until(
  rig: Rig,
  subject: Subject,
  status: string,
  mining: "mining" | "waiting",
): Promise<void> {
  await eventually(`${subject.paymentId ?? subject.txid} ${status}`, async () => {
    const rows = await rig.sql<{ id: string }[]>`
      SELECT id FROM book.deposit WHERE txid = ${subject.txid ?? ""} AND status = ${status}
      UNION ALL SELECT id FROM book.withdrawal WHERE id = ${
      subject.paymentId ?? ""
    } AND status = ${status}`;
    const [row] = rows;
    if (row !== undefined) {
      subject.paymentId = row.id;
      return true;
    }
    if (mining === "mining") {
      await mineWhenRead(rig);
    }
    return false;
  }, NODE_MS);
}

/** Makes the next block once the scan has read the solid ones: a slow machine never catches up with a chain that grows faster. */
export async function mineWhenRead(rig: Rig): Promise<void> {
  if (await isRead(rig)) await rig.mine(1);
  await new Promise((resolve) => setTimeout(resolve, 60));
}

/** True where the scan has read every block that is solid now. */
export async function isRead(rig: Rig): Promise<boolean> {
  const { solid } = await rig.info();
  const cursor = await readCursor(rig.sql, rig.family.network, "solid");
  return cursor !== null && cursor.height >= solid;
}

/** A merchant's available balance, when nothing of it is pending or reserved. */
export async function balanceOf({ sql }: Rig, merchantId: string): Promise<string> {
  const [row] = await sql<{ available: string }[]>`
    SELECT trim_scale(available)::text AS available FROM book.balance
    WHERE merchant_id = ${merchantId} AND pending = 0 AND reserved = 0`;
  return row?.available ?? "0";
}
