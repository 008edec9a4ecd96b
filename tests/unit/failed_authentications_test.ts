import { assert, assertEquals } from "@std/assert";
import { type FailedAuthentication, FailedAuthentications } from "../../api/http/request_log.ts";

/** A log and what was written to it. */
function watched() {
  const lines: FailedAuthentication[] = [];
  return { lines, failed: new FailedAuthentications((line) => lines.push(line)) };
}

Deno.test("failed authentications of an address are one line a minute, with their number", () => {
  const { lines, failed } = watched();
  for (let second = 0; second < 150; second++) {
    failed.record("203.0.113.7", "GET /api/balance", `req_${second}`, second * 1_000);
  }
  assertEquals(lines.map(({ failures, requestId }) => [failures, requestId]), [
    [1, "req_0"],
    [60, "req_60"],
    [60, "req_120"],
  ]);
  assertEquals(lines[0]?.address, "203.0.113.7");
});

Deno.test("many addresses do not fill the log, and none is lost from the count", () => {
  const { lines, failed } = watched();
  for (let i = 0; i < 500; i++) failed.record(`2001:db8::${i}`, "GET /api/balance", "req", 0);
  assertEquals(lines.length, 20);
  failed.record("2001:db8::499", "GET /api/balance", "req", 61_000);
  assertEquals(lines.at(-1)?.failures, 2);
});

Deno.test("a clock that was set back does not silence the log", () => {
  const { lines, failed } = watched();
  failed.record("203.0.113.7", "GET /api/balance", "req", 10 * 60_000);
  failed.record("203.0.113.7", "GET /api/balance", "req", 0);
  assert(lines.length === 2);
});
