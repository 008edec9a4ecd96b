import { assertEquals } from "@std/assert";
import { WorkerClient } from "../../app/workers/worker_client.ts";
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
