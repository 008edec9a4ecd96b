import { assertEquals } from "@std/assert";
import { delay } from "../../ledger/database/delay.ts";
import { TWO_NETWORKS, withService } from "../support/service.ts";
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
  }, { env: TWO_NETWORKS, withoutCluster: true });
});

test("a service that is told to stop is not ready first, and serves until its time is over", async () => {
  await withService(async (service) => {
    await service.start({ env: { DRAIN_SECONDS: "4" } });
    const { baseUrl, merchant } = service.credentials;
    const balance = () =>
      statusOf(`${baseUrl}/api/balance`, { headers: { authorization: merchant.apiKey } });
    assertEquals([await statusOf(`${baseUrl}/readyz`), await balance()], [200, 200]);
    let over = false;
    void service.ended.then(() => over = true);
    service.signal("SIGTERM");
    const seen: (readonly [number | null, number | null])[] = [];
    while (!over) {
      seen.push([await statusOf(`${baseUrl}/readyz`), await balance()]);
      await delay(50);
    }
    const served = seen.filter(([ready, answer]) => ready === 503 && answer === 200);
    assertEquals(served.length > 20, true, JSON.stringify(seen));
    // once it is not ready it never is again, and no request was refused before that was told
    const first = seen.findIndex(([ready]) => ready !== 200);
    assertEquals(seen.slice(first).filter(([ready]) => ready === 200), []);
    assertEquals(seen.slice(0, first + served.length).filter(([, answer]) => answer !== 200), []);
    assertEquals(await service.ended, { code: 0, signal: null });
  });
});
