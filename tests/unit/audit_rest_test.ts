import { assertEquals } from "@std/assert";
import { AuditRest } from "../../actors/journal/audited.ts";
import { movedClock } from "../support/moved_clock.ts";

Deno.test("audited commands rest ever longer while the row they need is held, and from the start anew", () => {
  using time = movedClock();
  const rest = new AuditRest();
  let refused = 0;
  const command = {
    kind: "command",
    message: { audit: {} },
    settle: () => refused++,
  } as never;
  const isRefused = () => {
    const before = refused;
    rest.refuse(new Map([["mer_1", [command]]]));
    return refused > before;
  };
  const rests = [];
  for (let i = 0; i < 6; i++) {
    rest.begin();
    let seconds = 0;
    for (; isRefused(); seconds++) time.advance(1_000);
    rests.push(seconds);
  }
  assertEquals(rests, [5, 10, 20, 40, 60, 60]);
  time.advance(3_600_000);
  rest.begin();
  time.advance(5_000);
  assertEquals(isRefused(), false);
});
