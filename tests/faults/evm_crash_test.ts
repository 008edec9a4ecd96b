import { needs } from "../support/permissions.ts";

Deno.test({
  name:
    "a death at any point of a lane's turn pays nothing twice and leaves no gap: of the service, the signer, the node or PostgreSQL",
  ignore: needs({ net: true, read: true, write: true, env: true, run: true }) ||
    Deno.build.os !== "linux" || Deno.build.arch !== "x86_64",
  sanitizeOps: false,
  sanitizeResources: false,
  sanitizeExit: false,
  fn: async (t) => {
    const { booksFaults } = await import("../support/books.ts");
    const { assertEquals } = await import("@std/assert");
    const { DEATHS, DYING, survive } = await import("./support/lane_deaths.ts");
    const { openRig } = await import("./support/matrix_rig.ts");
    const { ETH_RIG } = await import("./support/rig_evm.ts");
    const { admitHistory } = await import("../support/database.ts");
    const { privateCluster } = await import("../support/private_cluster.ts");
    await using server = await privateCluster();
    const sql = server.connect({ max: 8 });
    await admitHistory(server.url);
    const database = {
      url: server.url,
      sql,
      connect: server.connect,
      // it ends with its server
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    await using rig = await openRig({ sweeps: false, family: ETH_RIG, database });
    for (const who of DYING) {
      for (const death of DEATHS) {
        await t.step({
          name: `${who} dies ${death.point}`,
          fn: () => survive(rig, server, who, death),
          sanitizeOps: false,
          sanitizeResources: false,
          sanitizeExit: false,
        });
      }
    }
    assertEquals(await booksFaults(rig.sql), []);
    const open = await rig.sql`SELECT FROM book.lane_nonce WHERE used_by IS NULL`;
    assertEquals(open.length, 0, "nonces that nothing has used");
  },
});
