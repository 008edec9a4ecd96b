/**
 * A shop, whole: `deno run -A examples/shop.ts serve` takes callbacks, `... order ID AMOUNT` sells,
 * `... paid ID` tells whether to ship, `... payout ID AMOUNT ADDRESS` pays out. Its books are a SQLite
 * file, on disk before a callback is acknowledged, so that a shop that is killed at any moment books each
 * event once. Settings: `PAYMENTS_URL`, `API_KEY`, `WEBHOOK_SECRET`, `BOOKS`, `PORT`.
 *
 * @module
 */

import { createServer } from "node:http";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { PaymentsClient, PaymentsError } from "../client/client.ts";
import { createReceiver, type ReceivedEvent } from "../client/webhook_receiver.ts";

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`Cannot start without ${name}`);
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

  book({ eventId, kind, id, amount }: Entry): void {
    const text = "INSERT INTO entry VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
    this.#database.prepare(text).run(eventId, kind, id, amount);
  }
}

/** The entry of an event; null for one that the shop does not book. */
function entryOf({ name, eventId, payload }: ReceivedEvent): Entry | null {
  switch (name) {
    case "deposit.confirmed": // what was credited, not what was sent: fees are taken off
      return {
        eventId,
        kind: name,
        id: payload.referenceId ?? "",
        amount: payload.receivableAmount,
      };
    case "withdrawal.confirmed":
    case "withdrawal.failed": // the money is back, and the reference is free
      return { eventId, kind: name, id: payload.referenceId ?? "", amount: payload.amount };
    default:
      return null;
  }
}

function connect(): PaymentsClient {
  return new PaymentsClient({ baseUrl: setting("PAYMENTS_URL"), apiKey: setting("API_KEY") });
}

/** Takes callbacks on `/callbacks`, and shows the books on `/books`. */
function serve(): void {
  const books = new Books();
  const receive = createReceiver({
    secrets: [setting("WEBHOOK_SECRET")],
    book: (event) => {
      const entry = entryOf(event);
      if (entry !== null) books.book(entry);
      return Promise.resolve();
    },
  });
  const server = createServer((request, response) => {
    if (request.method === "POST" && request.url === "/callbacks") {
      return receive(request, response);
    }
    response.writeHead(request.url === "/books" ? 200 : 404, {
      "content-type": "application/json",
    });
    response.end(JSON.stringify(request.url === "/books" ? books.entries : {}));
  });
  server.listen(Number(setting("PORT")), "127.0.0.1", () => process.stdout.write("open\n"));
}

/**
 * Makes the page of an order, and books what is to be paid. The order and an attempt are the key: asked
 * again, it is the same page while that is open, and the next attempt's afterwards.
 */
async function order(id: string, requestedAmount: string): Promise<unknown> {
  const quote = { requestedAmount, requestedCurrency: "USD" } as const;
  const body = { network: "TRX", identifier: id, referenceId: id, ...quote } as const;
  for (let attempt = 1; attempt < 100; attempt++) {
    const header = { "Idempotency-Key": `${id}:${attempt}` };
    const page = await connect().call("POST /api/deposit-url", { header, body });
    if (Date.parse(page.expiresAt) <= Date.now()) continue; // its key is kept for a day
    if (page.payableAmount === undefined) throw new Error("Cannot sell as there is no rate now");
    new Books().book({ eventId: page.url, kind: "order", id, amount: page.payableAmount });
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
  const asked = new Books().entries.find((entry) => entry.kind === "order" && entry.id === id);
  if (asked === undefined) return false;
  let missing = unitsOf(asked.amount);
  const query = { referenceId: id, currency: "USDT", network: "TRX", status: "CONFIRMED" } as const;
  for await (const deposit of connect().rows("GET /api/deposits", { query })) {
    missing -= unitsOf(deposit.amount);
  }
  return missing <= 0n;
}

/** Pays out once, however often it is asked for: the id is the reference. */
async function payout(id: string, amount: string, destination: string): Promise<unknown> {
  const body = { amount, currency: "USDT", network: "TRX", destination, referenceId: id } as const;
  try {
    return await connect().call("POST /api/withdrawals", { body });
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
