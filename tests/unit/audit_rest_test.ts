import { assertEquals } from "@std/assert";
import { AuditPause } from "../../actors/journal/merchant_standing.ts";
import { movedClock } from "../support/moved_clock.ts";

Deno.test("audited commands are refused ever longer while the row they need is locked, and from the start anew", () => {
  using time = movedClock();
  const pause = new AuditPause();
  let refused = 0;
  const command = {
    kind: "command",
    message: { audit: {} },
    answer: () => refused++,
  } as never;
  const isRefused = () => {
    const before = refused;
    pause.refuse(new Map([["mer_1", [command]]]));
    return refused > before;
  };
  const pauses = [];
  for (let i = 0; i < 6; i++) {
    pause.begin();
    let seconds = 0;
    for (; isRefused(); seconds++) time.advance(1_000);
    pauses.push(seconds);
  }
  assertEquals(pauses, [5, 10, 20, 40, 60, 60]);
  time.advance(3_600_000);
  pause.begin();
  time.advance(5_000);
  assertEquals(isRefused(), false);
});
