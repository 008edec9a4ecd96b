import { hashApiKey, mintApiKey } from "../../api/http/key_ring.ts";
import { newId } from "../../actors/runtime/ids.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { newWebhookSecret } from "../../webhooks/signature.ts";
import { addMerchant, SOMEWHERE } from "../support/books.ts";
import type { FailingReceiver } from "./webhook_receiver.ts";

/** A merchant of the run. */
export interface SoakListener {
  readonly id: string;
  readonly apiKey: string;
}

/** Parts of the deposits that fail, and that are too small to be told of. */
const FAILED = 0.1;
const SMALL = 0.05;

/** Makes a merchant with an endpoint, a secret and a key of its own. */
export async function makeListener(sql: Sql, receiver: FailingReceiver): Promise<SoakListener> {
  const id = newId("mer");
  await addMerchant(sql, { id, webhookUrl: receiver.urlOf(id) });
  const secret = newWebhookSecret();
  receiver.secrets.set(id, secret);
  await sql`
    UPDATE book.merchant SET webhook_secret = ${secret}, webhook_timeout_ms = 1000
    WHERE merchant_id = ${id}`;
  const apiKey = mintApiKey("development");
  await sql`
    INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, created_at)
    VALUES (${newId("key")}, decode(${
    hashApiKey(apiKey)
  }, 'hex'), ${id}, 'MERCHANT', '{read}', 'soak', now())`;
  return { id, apiKey };
}

/** Deposits that were seen and are to fail, for {@linkcode letVanish}. */
export interface Doomed {
  readonly merchantId: string;
  readonly txid: string;
}

let transfers = 0;

/**
 * Writes transfers into the inboxes as the watcher does: most of them final, some only seen, some
 * too small to be told of. Each of the others makes two events.
 */
export async function addTransfers(
  sql: Sql,
  merchants: readonly SoakListener[],
  count: number,
  draw: () => number,
): Promise<readonly Doomed[]> {
  const rows = Array.from({ length: count }, (_, n) => {
    const drawn = draw();
    const merchantId = merchants[n % merchants.length]?.id ?? "";
    const txid = (++transfers).toString(16).padStart(64, "0");
    return {
      merchantId,
      txid,
      phase: drawn < FAILED ? "seen" : "solid",
      amount: drawn > 1 - SMALL ? "0.25" : "2.5",
    };
  });
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
    SELECT m, 'TRX', t, 0, p, jsonb_build_object('currency', 'USDT', 'amount', a, 'from', ${SOMEWHERE}::text,
      'to', ${SOMEWHERE}::text, 'addressId', 'adr_soak', 'height', 7, 'diesAfter', 1900000000000, 'expiresAt', 1900000000000)
    FROM unnest(${rows.map(({ merchantId }) => merchantId)}::text[],
      ${rows.map(({ txid }) => txid)}::text[], ${rows.map(({ phase }) => phase)}::text[],
      ${rows.map(({ amount }) => amount)}::text[]) AS r(m, t, p, a)`;
  return rows.filter(({ phase }) => phase === "seen");
}

/** Says of deposits that were seen that they can never become final. */
export async function letVanish(sql: Sql, doomed: readonly Doomed[]): Promise<void> {
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
    SELECT m, 'TRX', t, 0, 'vanished',
      jsonb_build_object('reason', 'the transaction expired', 'to', ${SOMEWHERE}::text)
    FROM unnest(${doomed.map(({ merchantId }) => merchantId)}::text[],
      ${doomed.map(({ txid }) => txid)}::text[]) AS r(m, t)`;
}
