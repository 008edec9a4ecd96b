/**
 * A shop, whole: `deno run -A examples/shop.ts serve` takes orders and callbacks,
 * `... order ID AMOUNT` sells, `... payout ID AMOUNT ADDRESS` pays out. Its books are a file with one
 * line per entry, written before a callback is acknowledged, so that a shop that is killed at any moment
 * books each event once. Settings: `PAYMENTS_URL`, `API_KEY`, `WEBHOOK_SECRET`, `BOOKS`, `PORT`.
 *
 * @module
 */

import { createServer } from "node:http";
import { existsSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
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
  /** The order, or the payout. */
  readonly id: string;
  readonly amount: string;
}

/**
 * The books: a file that only grows. Each entry begins with the line break, so that what is left of a
 * write that failed (a crash, a full disk) is a line of its own. Its callback was not acknowledged.
 */
class Books {
  readonly #booked = new Map<string, Entry>();
  readonly #file: number;

  constructor(path: string) {
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    for (const [i, line] of text.split("\n").entries()) {
      const entry = parsed(line);
      if (entry !== null) this.#booked.set(entry.eventId, entry);
      else if (line !== "") {
        process.stderr.write(`Line ${i + 1} of the books is damaged: left out\n`);
      }
    }
    this.#file = openSync(path, "a");
    fsyncSync(this.#file); // an entry that is read above is acknowledged when its event comes again
  }

  get entries(): readonly Entry[] {
    return [...this.#booked.values()];
  }

  /** Books an entry once; it is on disk when this returns. */
  book(entry: Entry): void {
    if (this.#booked.has(entry.eventId)) return;
    writeFileSync(this.#file, `\n${JSON.stringify(entry)}`); // all of it, where writeSync may stop early
    fsyncSync(this.#file);
    this.#booked.set(entry.eventId, entry);
  }
}

function parsed(line: string): Entry | null {
  try {
    return line === "" ? null : JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
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
  const books = new Books(setting("BOOKS"));
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

/** Makes the page of an order. The order's id is the key: asked again, it is the same page. */
async function order(id: string, amount: string): Promise<unknown> {
  return await connect().call("POST /api/deposit-url", {
    header: { "Idempotency-Key": id },
    body: {
      network: "TRX",
      identifier: id,
      referenceId: id,
      requestedAmount: amount,
      requestedCurrency: "USD",
    },
  });
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

const [command, ...args] = process.argv.slice(2);
const [id = "", amount = "", destination = ""] = args;
if (command === "serve") serve();
else if (command === "order") process.stdout.write(JSON.stringify(await order(id, amount)));
else if (command === "payout") {
  process.stdout.write(JSON.stringify(await payout(id, amount, destination)));
} else throw new Error("Cannot go on as the command is none of: serve, order, payout");
