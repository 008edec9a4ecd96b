import { assert, assertEquals } from "@std/assert";
import { dirname } from "node:path";
import { connect } from "../../ledger/database/connect.ts";
import { debianBinaries, testNeedingDebianPostgres } from "../support/debian_postgres.ts";
import { loadLastRelease } from "./carry_over.ts";

import { figureFaults } from "./figures.ts";
import { openServer } from "./installation.ts";
import { programAddress, runPostgresProgram } from "./postgres_program.ts";
import { metFaults } from "./restore.ts";
import { drillRotate } from "./rotate.ts";
import { type Proofs, secretFaults } from "./secrets.ts";
import { drillUpgrade, metFaults as upgradeMetFaults } from "./upgrade.ts";

const test = testNeedingDebianPostgres();

Deno.test("drill restore: one in which nothing was lost, repeated, matched or booked has failed", () => {
  const met = (copied: number, repeated: number, others: number) => ({
    "withdrawals that the copy has": copied,
    "lost ones that were paid, and asked for again": repeated,
    "lost ones that were paid, and not asked for again": others,
  });
  assertEquals(metFaults(met(9, 3, 2), { match: 3, book: 2 }), []);
  assertEquals(metFaults(met(9, 3, 2), { match: 4, book: 2 }), []);
  for (
    const [counts, verdicts, faults] of [
      [met(0, 0, 0), { match: 0, book: 0 }, 3],
      [met(9, 0, 2), { match: 0, book: 2 }, 1],
      [met(9, 3, 0), { match: 3, book: 0 }, 1],
      [met(9, 3, 2), { match: 2, book: 2 }, 1],
      [met(9, 3, 2), { match: 3, book: 1 }, 1],
      [met(9, 3, 2), { match: 3, book: 3 }, 1],
    ] as const
  ) {
    assertEquals(metFaults(counts, verdicts).length, faults);
  }
});

Deno.test("drill upgrade: money that a migration changed, and rows that are gone, are faults", () => {
  const balance = "balance of mer_a USDT TRX";
  const before = { "rows of book.entry": "9", "rows of hub.job": "3", [balance]: "10 0 5" };
  for (
    const [changed, faults] of [
      [{}, []],
      [{ "rows of hub.job": "4" }, []],
      [{ "rows of hub.made_by_it": "4" }, []],
      [{ "rows of hub.job": "2" }, ["rows of hub.job: 3 before, 2 afterwards"]],
      [{ "rows of hub.job": undefined }, ["rows of hub.job: 3 before, none afterwards"]],
      [{ "rows of book.entry": "10" }, ["rows of book.entry: 9 before, 10 afterwards"]],
      [{ [balance]: "15 0 0" }, [`${balance}: 10 0 5 before, 15 0 0 afterwards`]],
      [{ [balance]: undefined }, [`${balance}: 10 0 5 before, none afterwards`]],
      [{ "withdrawal FAILED USDT TRX": "1 of 5" }, [
        "withdrawal FAILED USDT TRX: none before, 1 of 5 afterwards",
      ]],
    ] as const
  ) {
    const after = Object.entries({ ...before, ...changed }).flatMap(([name, figure]) =>
      figure === undefined ? [] : [[name, figure] as const]
    );
    assertEquals(figureFaults(new Map(Object.entries(before)), new Map(after)), faults);
  }
});

Deno.test("drill upgrade: one without payouts under way, or without new ones, has failed", () => {
  for (const [underWay, asked, faults] of [[6, 2, 0], [0, 2, 1], [6, 0, 1], [0, 0, 2]] as const) {
    assertEquals(upgradeMetFaults(underWay, asked).length, faults);
  }
});

test("drill upgrade: payments of the last release go on in this version, beside new ones", async () => {
  assertEquals(await drillUpgrade(() => {}, { seconds: 1 }), []);
});

test("drill upgrade: an operator's backup is restored, carried over and compared", async () => {
  await using server = await openServer();
  const sql = connect(server.url, { max: 1 });
  await loadLastRelease(sql);
  await sql.end();
  const { url, env } = programAddress(server);
  const file = await Deno.makeTempFile({ prefix: "engine-drill-", suffix: ".dump" });
  try {
    const args = ["--format=custom", `--dbname=${url}`, `--file=${file}`];
    const program = `${dirname(debianBinaries().initdb)}/pg_dump`;
    await runPostgresProgram(program, args, env);
    const steps: string[] = [];
    assertEquals(await drillUpgrade((line) => steps.push(line), { backup: file }), []);
    assertEquals(steps.map((line) => line.split(" ")[0]), [
      "restored",
      "read",
      "migrations",
      "read",
      "books",
    ]);
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("drill rotate: a secret that was not replaced, does not work, or has not ended is a fault", () => {
  const wanted = ["INGEST_SECRET", "SESSION_SECRET"] as const;
  const good = { works: true, ended: true };
  for (
    const [ingest, session, faults] of [
      [good, { works: true, ended: null }, []],
      [good, null, ["SESSION_SECRET: was not replaced"]],
      [{ works: false, ended: true }, good, ["INGEST_SECRET: the new one does not work"]],
      [{ works: true, ended: false }, good, ["INGEST_SECRET: the old one works"]],
      [{ works: false, ended: false }, { works: false, ended: null }, [
        "INGEST_SECRET: the new one does not work",
        "INGEST_SECRET: the old one works",
        "SESSION_SECRET: the new one does not work",
      ]],
    ] as const
  ) {
    const proofs: Proofs = new Map([["INGEST_SECRET", ingest]]);
    if (session !== null) proofs.set("SESSION_SECRET", session);
    assertEquals(secretFaults(proofs, wanted), faults);
  }
});

test("drill rotate: no request is refused and no payout lost while secrets are replaced", async () => {
  assertEquals(await drillRotate(() => {}, true), []);
});

test("drills run PostgreSQL's programs without the caller's environment", async () => {
  Deno.env.set("PGTARGETSESSIONATTRS", "standby");
  try {
    const printed = await runPostgresProgram("/usr/bin/env", [], { PGPASSWORD: "secret" });
    assert(!printed.includes("PGTARGETSESSIONATTRS"));
    assert(printed.includes("PGPASSWORD=secret"));
  } finally {
    Deno.env.delete("PGTARGETSESSIONATTRS");
  }
});
