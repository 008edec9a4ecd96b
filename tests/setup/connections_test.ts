import { assert, assertEquals, assertMatch } from "@std/assert";
import { addressReasons } from "../../app/health/doors.ts";
import { Connections, type OpenConnection } from "../../app/http/connections.ts";

const BOUNDS = {
  total: 4,
  perAddress: 2,
  headMs: 10,
  idleMs: 100,
  bodyMs: 20,
  sendMs: 50,
  stopMs: 30,
};

/** Connections whose ends are written down by name. */
function book(bounds: Partial<typeof BOUNDS> = {}) {
  const connections = new Connections({ ...BOUNDS, ...bounds });
  const closed: string[] = [];
  const admit = (name: string, client: string | null, now: number): OpenConnection | null =>
    connections.admit(client, now, () => closed.push(name));
  const must = (name: string, client: string | null, now: number): OpenConnection => {
    const connection = admit(name, client, now);
    if (connection === null) throw new Error(`There was no place for ${name}`);
    return connection;
  };
  return { connections, closed, admit, must };
}

Deno.test("each part of a request has its own time, and only what is late is ended", () => {
  const rows: readonly [string, number, (b: ReturnType<typeof book>) => void][] = [
    ["head", 10, (b) => void b.must("c", "a", 0)],
    ["body", 20, (b) => {
      b.connections.begin(b.must("c", "a", 0), 0);
    }],
    ["send", 50, (b) => {
      const connection = b.must("c", "a", 0);
      b.connections.move(connection, b.connections.begin(connection, 0), "send", 0);
    }],
    ["idle", 100, (b) => {
      const connection = b.must("c", "a", 0);
      b.connections.end(connection, b.connections.begin(connection, 0), 0);
    }],
  ];
  for (const [reason, boundMs, prepare] of rows) {
    const b = book();
    prepare(b);
    b.connections.endOverdue(boundMs - 1);
    assertEquals(b.closed, [], reason);
    b.connections.endOverdue(boundMs);
    assertEquals([b.closed, b.connections.open], [["c"], 0], reason);
    assertEquals(Object.entries(b.connections.ended).filter(([, count]) => count > 0), [[
      reason,
      1,
    ]]);
  }
});

Deno.test("a connection that carries many requests at a time is ended", () => {
  const { connections, closed, must } = book();
  const one = must("one after the other", "a", 0);
  for (let i = 0; i < 100; i++) connections.end(one, connections.begin(one, i), i);
  const many = must("all at once", "a", 0);
  for (let i = 0; i < 16; i++) connections.begin(many, 0);
  assertEquals(closed, []);
  connections.begin(many, 0);
  connections.begin(many, 0);
  assertEquals([closed, connections.ended.streams], [["all at once"], 1]);
});

Deno.test("a request that is being answered is not ended, however long its route takes", () => {
  const { connections, closed, must } = book();
  const connection = must("c", "a", 0);
  connections.move(connection, connections.begin(connection, 0), "answer", 0);
  connections.endOverdue(1_000_000);
  assertEquals(closed, []);
});

Deno.test("a request that is answered at once keeps its connection alive, and is kept nowhere itself", () => {
  const { connections, closed, must } = book({ total: 10, perAddress: 10 });
  const [first, second] = [must("first", "a", 0), must("second", "a", 0)];
  // neither waits for its first head any more, and they wait in the order in which they were answered
  connections.answered(second, 5);
  connections.answered(first, 6);
  assertEquals([first.exchanges.size, first.wait, first.since], [0, "idle", 6]);
  connections.endOverdue(104);
  assertEquals(closed, []);
  connections.relieve(1, 2_000);
  assertEquals(closed, ["second"]);
  // beside a request that is being answered it changes nothing, and what is closed stays closed
  connections.move(first, connections.begin(first, 10), "answer", 10);
  connections.answered(first, 11);
  connections.answered(second, 11);
  connections.endOverdue(1_000_000);
  assertEquals([closed, connections.open], [["second"], 1]);
});

Deno.test("requests that follow each other keep a connection alive; late ones beside others do not", () => {
  const { connections, closed, must } = book();
  const connection = must("c", "a", 0);
  for (let now = 0; now < 1_000; now += 90) {
    connections.end(connection, connections.begin(connection, now), now);
    connections.endOverdue(now + 89);
  }
  assertEquals(closed, []);
  const slow = connections.begin(connection, 1_000);
  const other = connections.begin(connection, 1_015);
  connections.move(connection, other, "answer", 1_015);
  assertEquals(slow.phase, "body");
  connections.endOverdue(1_020);
  assertEquals(closed, ["c"]);
});

Deno.test("a client over its share loses its own oldest connection that waits, never another's", () => {
  const { connections, closed, must } = book({ total: 10 });
  must("other", "b", 0);
  must("a1", "a", 1);
  must("a2", "a", 2);
  must("a3", "a", 3);
  assertEquals([closed, connections.open], [["a1"], 3]);
  assertEquals(connections.ended.room, 1);
});

Deno.test("a trusted proxy is exempt from the share of one client, not from the bound of all", () => {
  const { connections, closed, must } = book();
  for (let i = 0; i < 4; i++) must(`p${i}`, null, i);
  assertEquals([closed, connections.open], [[], 4]);
  must("p4", null, 1_004);
  assertEquals([closed, connections.open], [["p0"], 4]);
});

Deno.test("where all is full what never sent a request goes first, then slow bodies, then the idle", () => {
  const { connections, closed, must, admit } = book({ perAddress: 10 });
  const idle = must("idle", "a", 0);
  connections.end(idle, connections.begin(idle, 0), 0);
  const body = must("body", "a", 1);
  connections.begin(body, 1);
  must("head", "a", 2);
  const busy = must("busy", "a", 3);
  connections.move(busy, connections.begin(busy, 3), "answer", 3);
  const after = (name: string, now: number) => {
    const connection = admit(name, "b", now);
    if (connection === null) return;
    connections.move(connection, connections.begin(connection, now), "answer", now);
  };
  // what is only just on its way is not slow: the new one has to wait
  after("too soon", 500);
  assertEquals([closed, connections.ended.refused], [[], 1]);
  after("n1", 2_000);
  after("n2", 2_000);
  after("n3", 2_000);
  assertEquals(closed, ["head", "body", "idle"]);
  // all are being answered: there is no place, and none of them is ended for it
  after("n4", 9_000);
  assertEquals([closed.length, connections.open, connections.ended.refused], [3, 4, 2]);
});

Deno.test("a flood ends itself, not the idle and the fresh connections of others", () => {
  const { connections, closed, must } = book({ total: 20, perAddress: 20 });
  const idle = must("idle", "a", 0);
  connections.end(idle, connections.begin(idle, 0), 0);
  const fresh = must("fresh", "c", 1);
  for (let i = 0; i < 100; i++) connections.begin(must(`body ${i}`, "b", 1), 1);
  assertEquals([closed[0], closed.length], ["body 0", 82]);
  assert(!closed.includes("idle") && !closed.includes("fresh"));
  connections.begin(fresh, 2);
});

Deno.test("where all is full the client with the most connections loses one, not the oldest client", () => {
  const { connections, closed, must } = book({ total: 6, perAddress: 10 });
  must("quiet", "a", 0);
  for (let i = 0; i < 5; i++) must(`loud ${i}`, "b", 1 + i);
  must("new", "c", 1_010);
  must("proxied", null, 1_011);
  must("new too", "d", 1_012);
  assertEquals([closed, connections.open], [["loud 0", "loud 1", "loud 2"], 6]);
});

Deno.test("heads that were not read yet are no reason to end their client's connections", () => {
  const { connections, closed, must } = book({ total: 60, perAddress: 60 });
  for (let i = 0; i < 20; i++) must(`silent ${i}`, "a", 0);
  // forty at once of an ordinary client, and the thread has had no turn to read one of them
  const ordinary = Array.from({ length: 40 }, (_, i) => must(`ordinary ${i}`, "b", 400));
  must("new", "c", 500);
  must("new too", "d", 500);
  assertEquals(closed, ["silent 0", "silent 1"]);
  for (const connection of ordinary) connections.begin(connection, 510);
  assertEquals(connections.ended.room, 2);
});

Deno.test("what is closed is forgotten once, and its client's share is free again", () => {
  const { connections, closed, must } = book();
  const first = must("a1", "a", 0);
  must("a2", "a", 0);
  connections.forget(first);
  connections.forget(first);
  must("a3", "a", 0);
  assertEquals([closed, connections.open], [[], 2]);
  // an answer that ends after its connection changes nothing
  connections.begin(first, 1);
  connections.endOverdue(5);
  assertEquals(connections.open, 2);
});

Deno.test("a stop ends what sends no request at once, answers not taken later, routes never", () => {
  const b = book({ total: 10 });
  const { connections } = b;
  b.must("head", "a", 0);
  const body = b.must("body", "b", 0);
  connections.begin(body, 0);
  const [answer, send, idle, mixed] = ["answer", "send", "idle", "mixed"].map((name) => {
    const connection = b.must(name, name, 0);
    return { connection, exchange: connections.begin(connection, 0) };
  });
  assert(answer !== undefined && send !== undefined && idle !== undefined && mixed !== undefined);
  connections.move(answer.connection, answer.exchange, "answer", 0);
  connections.move(send.connection, send.exchange, "send", 0);
  connections.end(idle.connection, idle.exchange, 0);
  connections.move(mixed.connection, mixed.exchange, "answer", 0);
  connections.move(
    mixed.connection,
    connections.begin(mixed.connection, 0),
    "send",
    0,
  );
  connections.endForStop(100, 100);
  assertEquals(b.closed, ["head"]);
  connections.endForStop(130, 100);
  assertEquals(b.closed, ["head", "send", "idle"]);
  connections.endForStop(1_000, 100);
  assertEquals(b.closed, ["head", "send", "idle", "body"]);
  connections.move(answer.connection, answer.exchange, "send", 5_000);
  connections.endForStop(5_029, 100);
  assertEquals(b.closed.length, 4);
  connections.endForStop(5_030, 100);
  assertEquals(b.closed.slice(4), ["answer"]);
  assertEquals([connections.ended.stop, connections.open], [5, 1]);
});

Deno.test("a refusal is told of one address only where the bound of one address caused it", () => {
  const bounds = { total: 4, perAddress: 2 };
  const fill = (clients: readonly string[]) => {
    const b = book(bounds);
    for (const client of clients) {
      const connection = b.must(client, client, 0);
      b.connections.move(connection, b.connections.begin(connection, 0), "answer", 0);
    }
    return b;
  };
  const one = fill(["a", "a"]);
  assertEquals(one.connections.addressRefusedAt, null);
  assertEquals(one.admit("a", "a", 7), null);
  assertEquals(one.connections.addressRefusedAt, 7);
  const [reason] = addressReasons(59_999);
  assertMatch(reason ?? "", /TRUSTED_PROXIES.*MAX_CONNECTIONS_PER_ADDRESS/);
  assertEquals([addressReasons(60_000), addressReasons(null)], [[], []]);
  const all = fill(["a", "b", "c", "d"]);
  assertEquals(all.admit("a", "a", 7), null);
  assertEquals([all.connections.addressRefusedAt, all.connections.ended.refused], [null, 1]);
});
