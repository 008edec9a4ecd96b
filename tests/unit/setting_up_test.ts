import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { DatabaseConnection } from "../../ledger/database/database_connection.ts";
import { simpleQuery } from "../../ledger/database/frames.ts";

/** A message of the server. */
function message(type: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, "latin1");
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const READY = message("Z", Buffer.from("I"));
const COMPLETE = message("C", Buffer.from("SELECT 1\0"));
const ROW = message("D", Buffer.from([0, 1, 0, 0, 0, 1, 0x31]));

/** A server that answers in the same breath in which it is asked. */
class PromptServer extends Duplex {
  #asked = 0;
  override _read(): void {}
  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done();
    const answers = [READY, Buffer.concat([ROW, COMPLETE, READY])];
    this.push(answers[this.#asked++] ?? Buffer.concat([COMPLETE, READY]));
  }
}

Deno.test("while a session is set up, what was told is taken in before the next answer is heard", async () => {
  const place = { host: "localhost", port: 5432 };
  const server = new PromptServer();
  const connection = new DatabaseConnection({
    // the stream is all that is used of a socket
    open: () => Promise.resolve({ raw: server as Duplex as Socket, place }),
    silenceMs: null,
    preparation: "SELECT 1",
    judge: () => null,
    autocommit: true,
    replaced: null,
    pace: null,
    changed: () => {},
  }, place);
  const over = Promise.withResolvers<void>();
  const takenIn: boolean[] = [];
  let told = 0;
  let isTakenIn = true;
  connection.on("data", (bytes: Buffer) => {
    // whatever follows an answer comes when all that it set off was done
    takenIn.push(isTakenIn);
    if (bytes[0] !== READY[0]) return;
    told++;
    if (told > 2) return over.resolve();
    isTakenIn = false;
    const take = async () => {
      for (let i = 0; i < 20; i++) await null;
      isTakenIn = true;
    };
    take().catch(over.reject);
    connection.write(simpleQuery("SELECT 2"));
  });
  // the end of the connection is reported as an error; by then all is over
  connection.on("error", () => {});
  const greeting = Buffer.alloc(8);
  greeting.writeUInt32BE(8, 0);
  greeting.writeUInt32BE(196_608, 4);
  connection.write(greeting);
  await over.promise;
  connection.destroy();
  server.destroy();
  assertEquals(takenIn.every((one) => one), true, JSON.stringify(takenIn));
});
