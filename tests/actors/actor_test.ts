import { assert, assertEquals, assertFalse } from "@std/assert";
import { type ActorKind, Actors, type Supervision } from "../../actors/runtime/actor.ts";
import { until } from "../support/books.ts";

const FAST: Supervision = { backoffMs: 1, backoffMaxMs: 2, tries: 3 };

function kind(
  receive: (id: string, message: string) => Promise<void>,
  options: Partial<ActorKind<string>> = {},
): ActorKind<string> {
  return {
    name: "test",
    mailboxCapacity: 100,
    idleMs: null,
    isTransient: () => false,
    activate: (id) => Promise.resolve({ receive: (message: string) => receive(id, message) }),
    ...options,
  };
}

Deno.test("an actor handles one message at a time, in the order they came", async () => {
  const heard: string[] = [];
  let busy = 0;
  const actors = new Actors(kind(async (id, message) => {
    assertEquals(++busy, 1);
    await new Promise((resolve) => setTimeout(resolve, 1));
    heard.push(`${id}:${message}`);
    busy--;
  }));
  for (const message of ["a", "b", "c"]) assert(actors.tell("one", message));
  await actors.stop(60_000);
  assertEquals(heard, ["one:a", "one:b", "one:c"]);
});

Deno.test("a full mailbox says so and keeps what it has", async () => {
  const gate = Promise.withResolvers<void>();
  const heard: string[] = [];
  const actors = new Actors(kind(async (_id, message) => {
    await gate.promise;
    heard.push(message);
  }, { mailboxCapacity: 2 }));
  actors.tell("one", "first");
  await until(() => actors.tell("one", "second") || true);
  const told = ["third", "fourth", "fifth"].map((message) => actors.tell("one", message));
  assert(told.includes(false));
  gate.resolve();
  await actors.stop(60_000);
  assertEquals(heard.length, 2 + told.filter(Boolean).length);
});

Deno.test("an actor that throws is loaded anew and gets the same message again", async () => {
  let loads = 0;
  let fails = 2;
  const heard: string[] = [];
  const actors = new Actors(
    kind(() => Promise.resolve(), {
      activate: () => {
        loads++;
        return Promise.resolve({
          receive: (message: string) => {
            if (fails-- > 0) return Promise.reject(new Error("broken"));
            heard.push(message);
            return Promise.resolve();
          },
        });
      },
    }),
    FAST,
  );
  actors.tell("one", "message");
  await actors.stop(60_000);
  assertEquals([loads, heard], [3, ["message"]]);
});

Deno.test("a message that keeps failing is quarantined and the next one is handled", async () => {
  const heard: string[] = [];
  const actors = new Actors(
    kind((_id, message) => {
      if (message === "poison") return Promise.reject(new Error("poison"));
      heard.push(message);
      return Promise.resolve();
    }),
    FAST,
  );
  actors.tell("one", "poison");
  actors.tell("one", "good");
  await until(() => heard.length === 1);
  assertEquals(actors.figures.quarantined, 1);
  await actors.stop(60_000);
});

/** Tells an actor something that is away for a while, until it is heard. */
async function heardThough(
  away: number,
  supervision: Supervision,
  options: Partial<ActorKind<string>> = {},
): Promise<Actors<string>> {
  const heard: string[] = [];
  const actors = new Actors(
    kind((_id, message) => {
      if (away-- > 0) return Promise.reject(new Error("away"));
      heard.push(message);
      return Promise.resolve();
    }, { isTransient: () => true, ...options }),
    supervision,
  );
  actors.tell("one", "patient");
  await until(() => heard.length === 1);
  return actors;
}

Deno.test("what is away is waited for and blamed on no message", async () => {
  const actors = await heardThough(20, FAST);
  assertEquals(actors.figures.quarantined, 0);
  await actors.stop(60_000);
});

Deno.test("what says how long it is away is tried at that moment, but within the longest pause", async () => {
  const patient: Supervision = { backoffMs: 3_600_000, backoffMaxMs: 3_600_000, tries: 3 };
  for (const [coolDownMs, supervision] of [[1, patient], [3_600_000, FAST]] as const) {
    const actors = await heardThough(3, supervision, { coolDownMs: () => coolDownMs });
    await actors.stop(60_000);
  }
});

Deno.test("an idle actor is dropped and comes back with its next message", async () => {
  let loads = 0;
  const actors = new Actors(
    kind(() => Promise.resolve(), {
      idleMs: 1,
      activate: () => {
        loads++;
        return Promise.resolve({ receive: () => Promise.resolve() });
      },
    }),
  );
  actors.tell("one", "a");
  await until(() => actors.figures.active === 0);
  actors.tell("one", "b");
  await until(() => actors.figures.active === 0);
  assertEquals(loads, 2);
  await actors.stop(60_000);
  assertFalse(actors.tell("one", "late"));
});
