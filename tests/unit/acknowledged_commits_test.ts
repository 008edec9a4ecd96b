import { assert, assertEquals } from "@std/assert";
import { AcknowledgedCommits } from "../../actors/failover/acknowledged_commits.ts";
import type { MerchantChanges } from "../../ledger/journal/write_batch.ts";
import { NO_ROWS } from "../../ledger/rows.ts";

/** The changes of a commit of nothing but the account. */
const CHANGES: MerchantChanges = {
  account: {
    merchantId: "mer_1",
    version: 1,
    lastCommit: "",
    depositSeq: 0,
    withdrawalSeq: 0,
    transactionSeq: 0,
    chargeSeq: 0,
    settlementSeq: 0,
    lastAt: 0,
  },
  opened: [],
  openings: [],
  entries: [],
  merchants: [],
  created: NO_ROWS,
  changed: NO_ROWS,
  once: NO_ROWS,
};

Deno.test("commits of the last two minutes are remembered, and what is older does not stay in memory", () => {
  let clock = 0;
  const commits = new AcknowledgedCommits(() => clock, () => clock);
  // ten batches a second for an hour
  for (let batch = 0; batch < 36_000; batch++, clock += 100) {
    commits.add(`commit-${batch}`, [CHANGES]);
    assert(commits.size <= 2 * 1_201 + 100, `${commits.size} in memory after ${batch}`);
  }
  assertEquals(commits.all.length, 1_201);
  assertEquals(commits.all.at(0)?.commitId, "commit-34799");
  assertEquals(commits.all.at(-1)?.commitId, "commit-35999");
});

Deno.test("the newest records are remembered, however many there are in two minutes", () => {
  const commits = new AcknowledgedCommits(() => 0, () => 0);
  const batch = Array.from({ length: 500 }, () => CHANGES);
  for (let n = 0; n < 1_000; n++) commits.add(`commit-${n}`, batch);
  assertEquals(commits.all.length, 400);
  assertEquals(commits.all.at(-1)?.commitId, "commit-999");
  assert(commits.size <= 900, `${commits.size} in memory`);
});
