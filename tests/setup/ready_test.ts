import { assertEquals } from "@std/assert";
import { delay } from "../../ledger/database/delay.ts";
import { withService } from "../support/service.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ net: true, read: true, write: true, run: true, env: true, sys: true });

/** The status of an answer; null: nothing listens. */
async function statusOf(url: string, init: RequestInit = {}): Promise<number | null> {
  try {
    const response = await fetch(url, init);
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

test("the first request to a fresh service that says it is ready succeeds", async () => {
  await withService(async (service) => {
    // an address of its own, as a port that is free now may be another test's when the service starts
    const [HOST, PORT] = ["127.0.0.35", "8035"];
    const url = `http://${HOST}:${PORT}`;
    const started = service.start({ env: { HOST, PORT } });
    let over = false;
    started.then(() => over = true, () => over = true);
    const early = new Set<number | null>();
    for (;;) {
      const status = await statusOf(`${url}/readyz`);
      if (status === 200) break;
      early.add(status);
      if (over) break;
      await delay(5);
    }
    early.delete(null);
    const text = await Deno.readTextFile(`${service.dataDir}/dev-credentials.json`);
    const { merchant: { apiKey } } = JSON.parse(text);
    const post = (path: string, network: string) =>
      statusOf(url + path, {
        method: "POST",
        headers: { authorization: apiKey, "content-type": "application/json" },
        body: JSON.stringify({ network, identifier: "first" }),
      });
    const asked = [
      post("/api/deposit-url", "TRX"),
      post("/api/deposit-url", "TRX_SHASTA"),
      post("/api/deposit-address", "TRX"),
      post("/api/deposit-address", "TRX_SHASTA"),
    ];
    assertEquals(await Promise.all(asked), [201, 201, 201, 201]);
    assertEquals([...early].filter((status) => status !== 503), []);
    await started;
  }, { withoutCluster: true });
});
