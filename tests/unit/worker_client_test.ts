import { assert, assertEquals, assertRejects } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { WorkerClient, WorkerUnavailable } from "../../app/workers/worker_client.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({});

/** Never becomes ready when it is started for the first time, and echoes when it is started again. */
const ENTRY = new URL(`data:text/javascript,${
  encodeURIComponent(`
    addEventListener("message", ({ ports: [port] }) => {
      port.onmessage = ({ data }) => {
        if (data.kind === "start" && data.settings > 1) port.postMessage({ kind: "ready", ready: null });
        if (data.kind !== "calls") return;
        const results = data.calls.map(({ id, request }) => ({ id, response: request, fault: null }));
        port.postMessage({ kind: "results", results });
      };
    }, { once: true });`)
}`);

test("a worker that never becomes ready is replaced, and the next one answers", async () => {
  let starts = 0;
  const client = new WorkerClient<string, string>({
    name: "echo",
    entry: ENTRY,
    permissions: {},
    settings: () => ++starts,
    startTimeoutMs: 500,
  });
  const call = () => client.call("hello", 5_000).catch(({ message }: Error) => message);
  assertEquals(await call(), "Cannot call the echo as it did not start in time");
  assertEquals(await call(), "hello");
  assertEquals([starts, client.figures.restarts], [2, 1]);
  await client.close(0);
});

/** Cannot start, whatever its settings, or ends when it is called. */
const BROKEN = new URL(`data:text/javascript,${
  encodeURIComponent(`
    addEventListener("message", ({ ports: [port] }) => {
      port.onmessage = ({ data }) => {
        if (data.kind === "calls") throw new Error("a bug");
        if (data.settings === "fails") port.postMessage({ kind: "start-failed", message: "no key" });
        else port.postMessage({ kind: "ready", ready: null });
      };
    }, { once: true });`)
}`);

function broken(settings: string) {
  return new WorkerClient<string, string>({
    name: "echo",
    entry: BROKEN,
    permissions: {},
    settings: () => settings,
  });
}

test("calls end as not received whenever a worker cannot start, and it counts as away until one is ready", async () => {
  const client = broken("fails");
  const startedAt = performance.now();
  for (let i = 0; i < 3; i++) {
    const error = await assertRejects(() => client.call("hello", 60_000), WorkerUnavailable);
    assertEquals([error.message, error.wasReceived], [
      "Cannot call the echo as no key",
      false,
    ]);
  }
  const passed = performance.now() - startedAt;
  assert(passed < 30_000, `calls waited for ${passed} ms`);
  const { restarts, awayMs } = client.figures;
  assert(restarts >= 2 && awayMs > 100, `${restarts} restarts, away for ${awayMs} ms`);
  await client.close(0);
});

test("a call that was under way when its worker ended was received", async () => {
  const client = broken("");
  const error = await assertRejects(() => client.call("hello", 60_000), WorkerUnavailable);
  assertEquals(error.wasReceived, true);
  await client.close(0);
});

/** Cannot start, and takes requests of any size. */
function unstartable() {
  return new WorkerClient<Uint8Array, null>({
    name: "echo",
    entry: BROKEN,
    permissions: {},
    settings: () => "fails",
  });
}

test("requests of calls that were rejected are not kept while no worker starts", async () => {
  setFlagsFromString("--expose_gc");
  const collect: () => void = runInNewContext("gc");
  const client = unstartable();
  for (let round = 0; round < 3; round++) {
    const calls = Array.from({ length: 10 }, () => client.call(new Uint8Array(5_000_000), 60_000));
    await Promise.allSettled(calls);
  }
  await new Promise((resolve) => setTimeout(resolve, 10));
  collect();
  const { external } = Deno.memoryUsage();
  assert(external < 75_000_000, `${external} bytes are kept of 150,000,000`);
  await client.close(0);
});

/** Asks a question as soon as it is called, and waits for the reply. */
const ASKING = new URL(`data:text/javascript,${
  encodeURIComponent(`
    addEventListener("message", ({ ports: [port] }) => {
      port.onmessage = ({ data }) => {
        if (data.kind === "start") port.postMessage({ kind: "ready", ready: null });
        if (data.kind === "calls") port.postMessage({ kind: "question", id: 1, question: 7 });
      };
    }, { once: true });`)
}`);

test("a question that breaks what answers it ends its worker and nothing else", async () => {
  const client = new WorkerClient<string, string>({
    name: "echo",
    entry: ASKING,
    permissions: {},
    settings: () => null,
    reply: (question) => Promise.reject(new TypeError(`no name: ${question}`)),
  });
  const error = await assertRejects(() => client.call("hello", 20_000), WorkerUnavailable);
  assertEquals(
    error.message,
    "Cannot call the echo as its question was not answered: TypeError: no name: 7",
  );
  await client.close(0);
});
