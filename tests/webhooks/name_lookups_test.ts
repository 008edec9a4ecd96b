import { assertEquals } from "@std/assert";
import { callbackReasons } from "../../app/health/callbacks.ts";
import { type NameAnswer, NameLookups } from "../../webhooks/name_lookups.ts";
import type { Resolve } from "../../webhooks/sender.ts";

const LONG_MS = 600_000;
const FOUND = [{ address: "8.8.8.8", family: 4 }];

/** Name servers that answer when they are told to. */
function silentServers() {
  const asked = new Map<string, Parameters<Resolve>[2]>();
  return {
    resolve: ((hostname, _options, done) => void asked.set(hostname, done)) satisfies Resolve,
    /** Names that are looked up. */
    underWay: () => [...asked.keys()],
    answer: (hostname: string) => {
      const done = asked.get(hostname);
      asked.delete(hostname);
      done?.(null, FOUND);
    },
  };
}

const delivery = (asker: string, hostname: string, waitMs = LONG_MS) =>
  ({ asker, hostname, use: "delivery", waitMs }) as const;

Deno.test("eight names are looked up at a time, and a place is held until the look-up has ended", async () => {
  const servers = silentServers();
  const names = new NameLookups(servers);
  const answers: Promise<NameAnswer>[] = [];
  for (let i = 0; i < 40; i++) answers.push(names.find(delivery(`mer_${i}`, `h${i}.example`)));
  assertEquals(servers.underWay().length, 8);
  assertEquals((await names.find(delivery("mer_late", "late.example", 1))).kind, "busy");
  // who asked first has given up waiting by now; the system has not given up asking
  assertEquals([servers.underWay().length, names.figures.underWay], [8, 8]);
  assertEquals([names.figures.waiting, names.figures.refused], [32, 1]);
  for (let i = 0; i < 40; i++) servers.answer(`h${i}.example`);
  assertEquals(new Set((await Promise.all(answers)).map(({ kind }) => kind)), new Set(["found"]));
  assertEquals([names.figures.underWay, names.figures.waiting], [0, 0]);
});

Deno.test("one asker has one place for callbacks and one for checks, whatever names it asks for", async () => {
  const servers = silentServers();
  const names = new NameLookups(servers);
  const first = names.find(delivery("mer_1", "a.example"));
  const second = names.find(delivery("mer_1", "b.example"));
  const check = names.find({ ...delivery("mer_1", "c.example"), use: "check" });
  const other = names.find(delivery("mer_2", "d.example"));
  assertEquals(servers.underWay(), ["a.example", "c.example", "d.example"]);
  for (const host of ["a.example", "b.example", "c.example", "d.example"]) servers.answer(host);
  for (const answer of [first, second, check, other]) assertEquals((await answer).kind, "found");
  const held = names.find(delivery("mer_1", "a.example"));
  assertEquals((await names.find(delivery("mer_1", "b.example", 1))).kind, "busy");
  // it waited for itself, which is no trouble of the service
  assertEquals(names.figures.crowdedMsAgo, null);
  servers.answer("a.example");
  await held;
});

Deno.test("a name is looked up once for all who ask meanwhile, also for those who were waiting", async () => {
  const servers = silentServers();
  const names = new NameLookups(servers);
  const held = names.find(delivery("mer_1", "held.example"));
  const waiting = names.find(delivery("mer_1", "shop.example"));
  const asking = names.find(delivery("mer_2", "shop.example"));
  const joining = names.find(delivery("mer_3", "shop.example"));
  assertEquals(servers.underWay(), ["held.example", "shop.example"]);
  servers.answer("held.example");
  await held;
  servers.answer("shop.example");
  for (const answer of [waiting, asking, joining]) {
    assertEquals(await answer, { kind: "found", addresses: FOUND });
  }
  assertEquals(servers.underWay(), []);
});

Deno.test("those whose look-ups were slow leave places to the others, and are told", async () => {
  const servers = silentServers();
  const names = new NameLookups({ ...servers, slowMs: 0 });
  for (let i = 0; i < 20; i++) {
    const once = names.find(delivery(`slow_${i}`, `slow-${i}.example`));
    servers.answer(`slow-${i}.example`);
    await once;
  }
  const slow: Promise<NameAnswer>[] = [];
  for (let i = 0; i < 20; i++) slow.push(names.find(delivery(`slow_${i}`, `slow-${i}.example`)));
  assertEquals(servers.underWay().length, 5);
  const webhooks = { figures: { refusedClaims: 0, heldMarks: 0, withoutSecret: 0 } } as never;
  const sender = { figures: { underWay: 0, restarts: 0, awayMs: 0 } };
  const secrets = { figures: { unreadable: 0, earlier: 0 } };
  assertEquals(callbackReasons({ webhooks, sender, secrets, names }), []);
  const quick = names.find(delivery("quick", "quick.example"));
  servers.answer("quick.example");
  assertEquals((await quick).kind, "found");
  assertEquals((await names.find(delivery("slow_9", "another.example", 1))).kind, "busy");
  assertEquals(callbackReasons({ webhooks, sender, secrets, names }), [
    "names of callbacks' hosts were not looked up within the last minute as too many look-ups hang (5 now)",
  ]);
  for (let i = 0; i < 20; i++) servers.answer(`slow-${i}.example`);
  assertEquals((await Promise.all(slow)).every(({ kind }) => kind === "found"), true);
});

Deno.test("a quick look-up pardons no slow one before it", async () => {
  const servers = silentServers();
  const names = new NameLookups({ ...servers, slowMs: 20 });
  const find = async (asker: string, hostname: string, ms: number) => {
    const found = names.find(delivery(asker, hostname));
    await new Promise((resolve) => setTimeout(resolve, ms));
    servers.answer(hostname);
    await found;
  };
  for (let i = 0; i < 8; i++) {
    await find(`m${i}`, `slow-${i}.example`, 30);
    await find(`m${i}`, `quick-${i}.example`, 0);
  }
  const again = Array.from({ length: 8 }, (_, i) => names.find(delivery(`m${i}`, `${i}.example`)));
  assertEquals(servers.underWay().length, 5);
  for (let i = 0; i < 8; i++) servers.answer(`${i}.example`);
  await Promise.all(again);
});

Deno.test("a name that cannot be looked up is told with the system's word", async () => {
  const odd = new NameLookups({
    resolve: () => {
      throw new TypeError("Cannot ask for it");
    },
  });
  assertEquals(await odd.find(delivery("m", "a.example")), { kind: "failed", code: "TypeError" });
  const none = new NameLookups({
    resolve: (_host, _options, done) =>
      done(Object.assign(new Error("no"), { code: "ENOTFOUND" }), []),
  });
  assertEquals(await none.find(delivery("m", "a.example")), { kind: "failed", code: "ENOTFOUND" });
  assertEquals([none.figures.underWay, none.figures.refused], [0, 0]);
});
