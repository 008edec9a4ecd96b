/**
 * A shop, whole: `deno run -A examples/shop.ts serve` takes callbacks and books each order that is paid, `... order
 * ID AMOUNT` sells, `... paid ID` tells whether to ship, `... payout ID AMOUNT ADDRESS` pays out. Its books are a
 * SQLite file, on disk before a callback is acknowledged, so that a shop that is killed at any moment books each event
 * once. Settings: `PAYMENTS_URL`, `API_KEY`, `WEBHOOK_SECRET`, `BOOKS`, `SHOP_PORT`.
 *
 * @module
 */

import { createServer } from "node:http";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { PaymentsClient, PaymentsError } from "../client/client.ts";
import { createReceiver, type ReceivedEvent } from "../client/webhook_receiver.ts";

function setting(name: string): string {
  const value = process.env[name] ?? "";
  if (value === "") throw new Error(`Cannot start without ${name}`);
  return value;
}

/** A line of the books. */
interface Entry {
  readonly eventId: string;
  readonly kind: string;
  readonly id: string; // of the order, or the payout
  readonly amount: string;
}

/** The books; each entry is there once, and on disk when `book` returns. */
class Books {
  readonly #database = new DatabaseSync(setting("BOOKS"));

  constructor() {
    this.#database.exec(`PRAGMA busy_timeout = 30000; PRAGMA synchronous = EXTRA;
      CREATE TABLE IF NOT EXISTS entry (event_id TEXT PRIMARY KEY, kind TEXT, id TEXT, amount TEXT)`);
  }

  get entries(): readonly Entry[] {
    return this.#database.prepare("SELECT * FROM entry ORDER BY rowid").all().map((row) => {
      const [eventId = "", kind = "", id = "", amount = ""] = Object.values(row ?? {}).map(String);
      return { eventId, kind, id, amount };
    });
  }

  /** Orders that are not booked as paid. */
  get unpaid(): string[] {
    const paid = new Set(this.entries.filter((e) => e.kind === "paid").map((e) => e.id));
    return this.entries.filter((e) => e.kind === "order" && !paid.has(e.id)).map((e) => e.id);
  }

  /** Its amount in the books is returned: the first one's, where it is there already. */
  book({ eventId, kind, id, amount }: Entry): string {
    const text = "INSERT INTO entry VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
    this.#database.prepare(text).run(eventId, kind, id, amount);
    return this.entries.find((entry) => entry.eventId === eventId)?.amount ?? "";
  }
}

const books = new Books();
const client = new PaymentsClient({ baseUrl: setting("PAYMENTS_URL"), apiKey: setting("API_KEY") });

/** The entry of an event; null for one that the shop does not book. */
function entryOf({ name: kind, eventId, payload }: ReceivedEvent): Entry | null {
  if (kind === "deposit.confirmed") { // what was credited, not what was sent: fees are taken off
    return { eventId, kind, id: payload.referenceId ?? "", amount: payload.receivableAmount };
  }
  if (kind !== "withdrawal.confirmed" && kind !== "withdrawal.failed") return null;
  return { eventId, kind, id: payload.referenceId ?? "", amount: payload.amount };
}

/** Books which of the orders are paid by now. */
async function bookPaid(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    if (await isPaid(id)) books.book({ eventId: `paid ${id}`, kind: "paid", id, amount: "" });
  }
}

/** Takes callbacks, shows the books to a GET, and looks what is paid: after a callback, and every minute. */
function serve(): void {
  const look = (ids: string[]) => void bookPaid(ids).catch((e) => process.stderr.write(`${e}\n`));
  setInterval(() => look(books.unpaid), 60_000); // no callback tells of a payment under 1 USD
  const book = (event: ReceivedEvent) => {
    const entry = entryOf(event);
    if (entry !== null) books.book(entry);
    return Promise.resolve(look(entry?.kind === "deposit.confirmed" ? [entry.id] : []));
  };
  const receive = createReceiver({ secrets: [setting("WEBHOOK_SECRET")], book });
  const server = createServer((request, response) => {
    if (request.method === "POST") return receive(request, response);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(books.entries));
  });
  server.listen(Number(setting("SHOP_PORT")), "127.0.0.1", () => process.stdout.write("open\n"));
  look(books.unpaid);
}

/** Makes an order's page: the same one while it is open, the next attempt's afterwards. Its price stays. */
async function order(id: string, requestedAmount: string): Promise<unknown> {
  const price = { eventId: `price ${id}`, kind: "price", id, amount: requestedAmount };
  if (books.book(price) !== requestedAmount) throw new Error("Cannot sell it at another price");
  const quote = { requestedAmount, requestedCurrency: "USD" } as const;
  const body = { network: "TRX", identifier: id, referenceId: id, ...quote } as const;
  for (let attempt = 1; attempt < 100; attempt++) {
    const header = { "Idempotency-Key": `${id}:${attempt}` };
    const page = await client.call("POST /api/deposit-url", { header, body });
    if (Date.parse(page.expiresAt) <= Date.now()) continue; // its key is kept for a day
    if (page.payableAmount === undefined) throw new Error("Cannot sell as there is no rate now");
    books.book({ eventId: `order ${id}`, kind: "order", id, amount: page.payableAmount });
    return page;
  }
  throw new Error("Cannot sell as all its pages have expired: is the clock right?");
}

/** An amount in units of 10^-18, so that sums are exact. */
function unitsOf(amount: string): bigint {
  const [whole = "", part = ""] = amount.split(".");
  return BigInt(whole + part.padEnd(18, "0"));
}

/** True once the confirmed deposits of all an order's pages, fees included, are what its first one asked for. */
async function isPaid(id: string): Promise<boolean> {
  const asked = books.entries.find((entry) => entry.kind === "order" && entry.id === id);
  if (asked === undefined) return false;
  let missing = unitsOf(asked.amount);
  const query = { referenceId: id, currency: "USDT", network: "TRX", status: "CONFIRMED" } as const;
  for await (const deposit of client.rows("GET /api/deposits", { query })) {
    missing -= unitsOf(deposit.amount);
  }
  return missing <= 0n;
}

/** Pays out once, however often it is asked for: the id is the reference. */
async function payout(id: string, amount: string, destination: string): Promise<unknown> {
  const body = { amount, currency: "USDT", network: "TRX", destination, referenceId: id } as const;
  try {
    return await client.call("POST /api/withdrawals", { body });
  } catch (error) {
    if (!(error instanceof PaymentsError) || error.code !== "duplicate_reference") throw error;
    return { withdrawalId: error.body["withdrawalId"] }; // it was made before
  }
}

const [command, id = "", amount = "", destination = ""] = process.argv.slice(2);
const show = (value: unknown) => process.stdout.write(JSON.stringify(value));
if (command === "serve") serve();
else if (command === "order") show(await order(id, amount));
else if (command === "paid") show(await isPaid(id));
else if (command === "payout") show(await payout(id, amount, destination));
else throw new Error("Cannot go on as the command is none of: serve, order, paid, payout");
