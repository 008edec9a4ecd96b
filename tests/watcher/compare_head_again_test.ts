/** Newest blocks that are compared anew, as the database was set back meanwhile. @module */

import { assertEquals } from "@std/assert";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { blockAt, MINUTE, openStart, SOLID } from "./support/head_start.ts";

const test = testNeeding(DATABASE);

test("a database that is set back while blocks of nodes behind the clock are awaited has as many awaited once more", async () => {
  await using start = await openStart();
  const { memory, clock, said } = start;
  said.behindMs = 180 * MINUTE;
  const look = async (tries: number) => {
    for (let i = 0; i < tries; i++) {
      assertEquals(await start.look(), true);
      clock.now += MINUTE / 10;
    }
    return memory.comparison.awaited;
  };
  assertEquals(await look(12), SOLID + 210);
  memory.recordSigned(3n, 4n);
  await look(1);
  memory.recordRead(SOLID + 210, 1);
  said.newest = SOLID + 210;
  assertEquals(await look(11), SOLID + 420);
});

test("what newest blocks show to be unknown is awaited, also where what was awaited before is read meanwhile", async () => {
  await using start = await openStart();
  const { memory, clock, said } = start;
  said.newest = SOLID + 1;
  said.blocks = [blockAt(SOLID + 1, ["unknown"])];
  await start.look();
  assertEquals(memory.comparison.awaited, SOLID + 11);
  memory.recordSigned(3n, 4n);
  said.newest = SOLID + 20;
  said.blocks = Array.from(
    { length: 19 },
    (_, i) => blockAt(SOLID + 1 + i, i > 10 ? ["more"] : []),
  );
  // all but the last one
  await start.look();
  memory.recordRead(SOLID + 11, 1);
  await start.sql`UPDATE hub.cursor SET height = ${SOLID + 11}, hash = ${String(SOLID + 11)}`;
  said.blocks = [...said.blocks, blockAt(SOLID + 20)];
  clock.now += MINUTE / 10;
  await start.look();
  assertEquals([memory.comparison.state, memory.comparison.awaited], ["over", SOLID + 30]);
});

test("what was found to be unknown before the database was set back ends no comparison with nodes that are behind since", async () => {
  await using start = await openStart();
  const { memory, clock, said } = start;
  said.newest = SOLID + 40;
  said.blocks = Array.from({ length: 40 }, (_, i) => blockAt(SOLID + 1 + i, ["unknown"]));
  await start.look();
  assertEquals(memory.comparison.awaited, SOLID + 50);
  memory.recordSigned(3n, 4n);
  said.newest = SOLID;
  said.behindMs = 90_000;
  for (let tries = 1; tries <= 12; tries++) {
    assertEquals([await start.look(), memory.comparison.state === "over"], [true, tries === 12]);
    clock.now += MINUTE / 10;
  }
  assertEquals(memory.comparison.awaited, SOLID + 50, "what was awaited is above");
  said.behindMs = 180 * MINUTE;
  memory.recordSigned(2n, 3n);
  for (let tries = 1; tries <= 12; tries++) {
    assertEquals(await start.look(), true);
    clock.now += MINUTE / 10;
  }
  assertEquals(memory.comparison.awaited, SOLID + 210);
});

test("what a comparison has found that did not end counts, although it is begun anew and nodes fall silent", async () => {
  await using start = await openStart();
  const { memory, clock, said } = start;
  said.newest = SOLID + 2;
  said.blocks = [blockAt(SOLID + 1, ["unknown"])];
  assertEquals(await start.look(), true);
  memory.recordSigned(3n, 4n);
  said.isSilent = true;
  for (let tries = 1; tries <= 12; tries++) {
    assertEquals(await start.look(), true);
    clock.now += MINUTE / 10;
  }
  assertEquals(memory.comparison.awaited, SOLID + 11);
});
