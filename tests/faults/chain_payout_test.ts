import { assert, assertEquals } from "@std/assert";
import { DATABASE, needs } from "../support/permissions.ts";
import type { FaultRequest } from "./support/chain_faults.ts";

/** Everything a node may do to a broadcast that must still end in exactly one payment. */
const SURVIVED: readonly { readonly name: string; readonly faults: readonly FaultRequest[] }[] = [
  {
    name: "a broadcast that is acknowledged and forgotten is sent again",
    faults: [{ path: "/wallet/broadcasttransaction", kind: "lost-broadcast", times: 1 }],
  },
  {
    name: "a broadcast that is refused and kept is paid once",
    faults: [{ path: "/wallet/broadcasttransaction", kind: "silent-accept", times: 1 }],
  },
  {
    name: "a broadcast that is called a duplicate at first sight is paid once",
    faults: [{ path: "/wallet/broadcasttransaction", kind: "duplicate", times: 1 }],
  },
  {
    name: "a broadcast that is called a duplicate and not kept is sent again",
    faults: [{ path: "/wallet/broadcasttransaction", kind: "duplicate", forget: true, times: 1 }],
  },
  {
    name: "a broadcast that is taken without an answer is paid once",
    faults: [{ path: "/wallet/broadcasttransaction", kind: "timeout", late: true, times: 1 }],
  },
  {
    name: "a broadcast that fails, late or early, is paid once",
    faults: [
      { path: "/wallet/broadcasttransaction", kind: "error-500", late: true, times: 1 },
      { path: "/wallet/broadcasttransaction", kind: "error-500", times: 1 },
      { path: "/wallet/broadcasttransaction", kind: "busy-429", times: 1 },
    ],
  },
  {
    name: "a node that answers nothing but errors for a while delays a payout and no more",
    faults: [
      { path: "*", kind: "error-500", times: 2 },
      { path: "*", kind: "busy-429", times: 1 },
    ],
  },
  {
    name: "a block without its receipts is waited for",
    faults: [
      { path: "*", kind: "lagging-receipts", times: 3 },
      { path: "*", kind: "lagging-receipts", late: true, times: 3 },
    ],
  },
];

/** Faults of a transaction that is included and fails: nothing moved, so everything comes back. */
const FAILED = ["revert", "out-of-energy"] as const;

Deno.test({
  name: "a payout meets every fault of a node and is paid once or refunded",
  ignore: needs(DATABASE),
  fn: async (t) => {
    const { withNode } = await import("./support/node.ts");
    const { CLOCK } = await import("./support/matrix_rig.ts");
    const { fastClock } = await import("../support/moved_clock.ts");
    const { openShop, mine } = await import("./support/shop.ts");
    const { confirmDeposit, payIn } = await import("./support/deposit.ts");
    const payouts = await import("./support/payout.ts");
    const chainFaults = await import("./support/chain_faults.ts");
    const { audit } = await import("./support/audit.ts");
    const { BROADCAST, letPass, mineUntil, setFaults } = chainFaults;
    const { assertNeverPaid, assertPaidOnce, expectPaid, expectRefund, withdraw } = payouts;

    using _ = fastClock(CLOCK);
    await withNode(async (service) => {
      await using shop = await openShop(service);
      await confirmDeposit(shop, await payIn(shop, "fund", 1_000n));
      const step = async (name: string, body: () => Promise<void>) => {
        if (!await t.step(name, body)) throw new Error("Cannot go on after a step that went wrong");
      };

      for (const { name, faults } of SURVIVED) {
        await step(name, async () => {
          await setFaults(shop, faults);
          const payout = await withdraw(shop, name.replaceAll(" ", "-"));
          expectPaid(shop, payout);
          await mineUntil(shop, payout.withdrawalId, "CONFIRMED");
          await setFaults(shop, []);
          await audit(shop);
          await assertPaidOnce(shop, payout);
        });
      }

      for (const kind of FAILED) {
        await step(
          `a payout that ends with ${kind} is refunded and its reference free`,
          async () => {
            await setFaults(shop, [{ path: BROADCAST, kind, times: 1 }]);
            const failed = await withdraw(shop, kind);
            expectRefund(shop, failed);
            await mineUntil(shop, failed.withdrawalId, "FAILED");
            await audit(shop);
            await assertNeverPaid(shop, failed);
            const again = await withdraw(shop, kind);
            assert(again.withdrawalId !== failed.withdrawalId);
            expectPaid(shop, again);
            await mineUntil(shop, again.withdrawalId, "CONFIRMED");
            await audit(shop);
            await assertNeverPaid(shop, failed);
          },
        );
      }

      const attempts = async (withdrawalId: string) => {
        const rows = await service.sql<{ outcome: string | null; evidence: unknown }[]>`
          SELECT a.outcome, a.evidence FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id
          WHERE o.payment_id = ${withdrawalId} ORDER BY a.number`;
        return rows.map((row) => row);
      };

      await step(
        "a payout that is lost until it expires is built again after the proof",
        async () => {
          await setFaults(shop, [{ path: BROADCAST, kind: "lost-broadcast" }]);
          const payout = await withdraw(shop, "lost");
          expectPaid(shop, payout);
          await chainFaults.untilSigned(shop, payout.withdrawalId);
          // the head is past its expiry, the solid block is not: no proof yet
          await letPass(shop, 40_000);
          await chainFaults.turns(shop);
          assertEquals((await attempts(payout.withdrawalId)).map(({ outcome }) => outcome), [null]);
          await setFaults(shop, []);
          await mine(shop, 4);
          await mineUntil(shop, payout.withdrawalId, "CONFIRMED");
          await audit(shop);
          await assertPaidOnce(shop, payout);
          const told = await attempts(payout.withdrawalId);
          assertEquals(told.map(({ outcome }) => outcome), ["expired", "paid"]);
          assert(told[0]?.evidence !== null, "the proof is kept");
        },
      );

      await step("a payout that expires too often is given up and refunded", async () => {
        await setFaults(shop, [{ path: BROADCAST, kind: "lost-broadcast" }]);
        const payout = await withdraw(shop, "hopeless");
        expectRefund(shop, payout);
        for (let attempt = 1; attempt <= 3; attempt++) {
          await chainFaults.untilSigned(shop, payout.withdrawalId, attempt);
          await letPass(shop, 40_000);
          await mine(shop, 4);
        }
        await mineUntil(shop, payout.withdrawalId, "FAILED");
        await setFaults(shop, []);
        await audit(shop);
        await assertNeverPaid(shop, payout);
        assertEquals((await attempts(payout.withdrawalId)).map(({ outcome }) => outcome), [
          "expired",
          "expired",
          "expired",
        ]);
      });

      for (const drop of [false, true]) {
        const what = drop ? "vanishes with its block" : "returns to the pool with its block";
        await step(`a payout that ${what} is paid once, by the same bytes`, async () => {
          await mine(shop, 4); // it has all of its 30 s then, counted from a solid block
          const payout = await withdraw(shop, drop ? "vanished" : "returned");
          expectPaid(shop, payout);
          await payouts.untilSent(shop);
          await mine(shop, 1);
          await chainFaults.reorganise(shop, 1, drop);
          await mineUntil(shop, payout.withdrawalId, "CONFIRMED");
          await audit(shop);
          await assertPaidOnce(shop, payout);
          assertEquals((await attempts(payout.withdrawalId)).length, 1);
        });
      }
    }, { lifetimeMs: 30_000 });
  },
});
