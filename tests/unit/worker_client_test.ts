import { assert, assertEquals, assertRejects } from "@std/assert";
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
