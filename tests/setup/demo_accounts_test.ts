import { assertEquals } from "@std/assert";
import { z } from "zod";
import { needs } from "../support/permissions.ts";

const Kept = z.looseObject({ baseUrl: z.string() });

Deno.test({
  name: "a service in development is not ready before its accounts and their file are there",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  fn: async () => {
    const { eventually } = await import("../faults/support/client.ts");
    const { withService } = await import("../support/service.ts");
    const readiness = async (baseUrl: string) => {
      const response = await fetch(`${baseUrl}/readyz`);
      await response.body?.cancel();
      return response.status;
    };
    await withService(async (service) => {
      await service.start();
      const { merchant } = service.credentials;
      assertEquals(await readiness(service.credentials.baseUrl), 200);
      await service.kill9();

      const file = `${service.dataDir}/dev-credentials.json`;
      const read = async () => Kept.parse(JSON.parse(await Deno.readTextFile(file)));
      const stale = "http://127.0.0.1:1";
      await Deno.writeTextFile(file, JSON.stringify({ ...await read(), baseUrl: stale }));
      // the file comes before the rows: holding those shows the service between the two
      const released = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      const holding = service.sql.begin(async (tx) => {
        await tx`LOCK TABLE hub.api_key IN EXCLUSIVE MODE`;
        held.resolve();
        await released.promise;
      });
      await held.promise;
      const starting = service.start();
      let early: number;
      try {
        const baseUrl = await eventually("the new base address", async () => {
          const { baseUrl } = await read();
          return baseUrl === stale ? null : baseUrl;
        });
        early = await readiness(baseUrl);
      } finally {
        released.resolve();
        await holding;
        await starting;
      }
      assertEquals(early, 503);
      assertEquals(await readiness(service.credentials.baseUrl), 200);
      assertEquals(service.credentials.merchant, merchant);
    });
  },
});
