import { assertEquals } from "@std/assert";
import { tronTransactionId } from "../../chains/tron/transaction_id.ts";

Deno.test("one transaction has one spelling, however it is written", () => {
  const id = "0123456789abcdef".repeat(4);
  for (const text of [id, id.toUpperCase(), `0x${id}`, `0X${id.toUpperCase()}`]) {
    assertEquals(tronTransactionId(text), id);
  }
  for (const text of ["", "0x", id.slice(1), `${id}0`, ` ${id}`, `${id}\n`, "g" + id.slice(1)]) {
    assertEquals(tronTransactionId(text), null, text);
  }
});
