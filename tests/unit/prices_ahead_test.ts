import { assertEquals, assertRejects } from "@std/assert";
import { pricesAhead } from "../../actors/treasury/prices.ts";

const ROWS = Array.from({ length: 20 }, (_, n) => ({ id: `out_${n}` }));

Deno.test("prices are asked for ahead, once each, and only behind a row that asks", async () => {
  const asked: string[] = [];
  const price = pricesAhead(ROWS, (row) => {
    asked.push(row.id);
    return Promise.resolve(`price of ${row.id}`);
  });
  assertEquals(asked, [], "a queue that waits for money asks nothing");
  const answers: string[] = [];
  for (const row of ROWS) {
    answers.push(await price(row));
    if (row === ROWS[0]) assertEquals(asked, ROWS.slice(0, 8).map(({ id }) => id));
  }
  assertEquals(answers, ROWS.map(({ id }) => `price of ${id}`));
  assertEquals(asked, ROWS.map(({ id }) => id));
});

Deno.test("a price that cannot be told fails at its row's turn, and no other", async () => {
  const price = pricesAhead(
    ROWS,
    ({ id }) => id === "out_2" ? Promise.reject(new Error("no node answers")) : Promise.resolve(id),
  );
  const [first, second, third, fourth] = ROWS;
  if (!first || !second || !third || !fourth) throw new Error("Cannot test without rows");
  assertEquals(await price(first), "out_0");
  assertEquals(await price(second), "out_1");
  await assertRejects(() => price(third), Error, "no node answers");
  assertEquals(await price(fourth), "out_3");
});
