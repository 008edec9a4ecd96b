// A node that dies within the test's process must not act afterwards, or tests of deaths would prove nothing.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { requestOf } from "../support/sign_request.ts";

const test = testNeeding(DATABASE);

test({
  name:
    "after its death a node asks no chain, signs nothing, writes nothing and delivers no callback",
  timeout: 120_000,
  fn: async () => {
    const { openRig, POLL_MS } = await import("./support/matrix_rig.ts");
    const { bounded } = await import("./support/patience.ts");

    await using rig = await openRig({ sweeps: false });
    const { broadcast: path } = rig.family.paths;
    let calls = 0;
    const answer = Promise.withResolvers<void>();
    await using endpoint = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      async () => {
        calls++;
        await answer.promise;
        return Response.json({ ok: true });
      },
    );
    // whatever fails: the endpoint's end waits for its answers
    using _ = { [Symbol.dispose]: () => answer.resolve() };
    const ghost = rig.life;
    const deliver = (eventId: string) =>
      ghost.sender.send(
        {
          merchantId: "mer_ghost",
          eventId,
          type: "deposit.confirmed",
          body: "{}",
          url: `http://127.0.0.1:${endpoint.addr.port}/`,
          secrets: { current: "whsec_dGVzdA==", previous: null },
          timeoutMs: 60_000,
        },
        Date.now(),
        new AbortController().signal,
      );
    const txid = "00".repeat(32);
    const bytes = JSON.stringify({ txID: txid });
    const broadcast = () => ghost.chain.broadcast({ txid, bytes, expiresAt: Date.now() + 60_000 });

    // both are under way when it dies
    await rig.setFaults([{ path, kind: "timeout" }]);
    const [delivering, sending] = [deliver("evt_before"), broadcast()];
    await rig.untilHit();
    while (calls === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    // every call to the node counts from now on, whatever it asks for
    await rig.setFaults([{ path: "*", kind: "error-500" }]);
    await rig.untilHitAgain();
    // in the moment of its death only what it sends counts: what it has asked just before may still arrive
    await rig.setFaults([{ path, kind: "error-500" }]);
    const alive = (await rig.info()).faults;
    const over = rig.kill9();
    // in the moment of its death, before anything of it is stopped in order
    const late = broadcast();

    const cut = "what was under way is cut";
    assertEquals((await bounded(cut, delivering)).category, "stopped");
    // not TIMEOUT, which it would be a second or two later if it went on
    const unclear = { category: "unclear", retryable: true, code: "NETWORK" } as const;
    assertEquals(await bounded(cut, sending), unclear);
    assert((await late).category === "unclear");
    assertEquals((await rig.info()).faults, alive, "sent in the moment of its death");
    await rig.setFaults([{ path: "*", kind: "error-500" }]);
    const before = (await rig.info()).faults;
    await assertRejects(() => ghost.chain.head());
    assert((await broadcast()).category === "unclear");
    await assertRejects(() => deliver("evt_after"), Error, "the node is dead");
    const envelope = {
      network: "TRX",
      fields: {},
      diesAfter: 1,
      nonce: null,
      expiresAt: 1,
    } as const;
    await assertRejects(() => ghost.signer.sign([requestOf("out_ghost", envelope)]));
    await assertRejects(() => ghost.engine.history.poll());
    await over;
    await new Promise((resolve) => setTimeout(resolve, 6 * POLL_MS));
    assertEquals((await rig.info()).faults, before, "calls to the node after the death");
    assertEquals(calls, 1, "calls to the endpoint");
  },
});
