import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { admin } from "../../app/commands/admin.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { INGEST_SECRET, testApi } from "../support/api.ts";
import { booksFaults, SOMEWHERE } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const ALL = ["read", "write", "payout", "admin:read", "admin:write"];

/** Carries out a command line and tells what it printed. */
async function run(
  line: readonly string[],
  env: Record<string, string>,
): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = [];
  const say = (...parts: unknown[]) => lines.push(parts.map(String).join(" "));
  const code = await admin(line, env, { log: say, error: say });
  return { code, text: lines.join("\n") };
}

test("merchants, keys, pairs and the treasury from the command line", async () => {
  await using api = await testApi();
  const env = {
    PUBLIC_URL: `${api.url}/`,
    ADMIN_API_KEY: await api.addKey(null, { permissions: ALL }),
  };
  const made = await run(
    [
      "merchants",
      "create",
      "--name",
      "Shop",
      "--deposit-commission-rate",
      "0.01",
      "--limit",
      "balance=0",
    ],
    env,
  );
  assertEquals(made.code, 0);
  assertMatch(made.text, /webhookSecret +whsec_/);
  const id = /^id +(\S+)$/m.exec(made.text)?.[1] ?? "";
  assertStringIncludes((await run(["merchants", "list", "--name", "hop"], env)).text, id);
  const shown = await run(["merchants", "show", id], env);
  assertMatch(shown.text, /rateLimits +{"balance":0}/);
  const set = await run(["merchants", "set", id, "--status", "SUSPENDED"], env);
  assertMatch(set.text, /status +SUSPENDED/);

  const key = await run(
    ["keys", "create", id, "--label", "till", "--permissions", "read, write", "--ip", "127.0.0.1"],
    env,
  );
  const apiKey = /^apiKey +(\S+)$/m.exec(key.text)?.[1] ?? "";
  const keyId = /^id +(\S+)$/m.exec(key.text)?.[1] ?? "";
  assertEquals((await api.call("GET", "/api/balance", { key: apiKey })).status, 200);
  assertStringIncludes((await run(["keys", "list", id], env)).text, keyId);
  assertEquals((await run(["keys", "rotate", id, keyId, "--overlap-hours", "1"], env)).code, 0);
  assertEquals((await run(["keys", "revoke", id, keyId], env)).code, 0);
  assertEquals((await api.call("GET", "/api/balance", { key: apiKey })).status, 401);
  assertStringIncludes((await run(["keys", "list", "admin"], env)).text, "ADMIN");

  const unserved = await run(["pairs", "set", "USDC/ETH", "--deposits", "on"], env);
  assertEquals(unserved.code, 1);
  assertStringIncludes(unserved.text, "ETH is not served here");
  const pair = await run(["pairs", "set", "USDT/TRX", "--deposits", "on", "--minimum", "2"], env);
  assertMatch(pair.text, /depositsEnabled +true/);
  const { text: pairs } = await run(["pairs", "list"], env);
  assertMatch(pairs, /USDT\/TRX +on +\w+ +2 /);
  assertMatch(pairs, /USDC\/ETH +off +off /);
  assertStringIncludes((await run(["treasury"], env)).text, "hot wallet");
  assertEquals((await run(["treasury", "costs", "--limit", "5"], env)).text, "(none)");
  await run(["pairs", "set", "USDT/TRX", "--fee-mode", "dynamic"], env);
  assertStringIncludes((await run(["pairs", "list"], env)).text, "dynamic 1");
  assertStringIncludes((await run(["audit", "--merchant", id], env)).text, "merchant.create");
  assertMatch((await run(["fees", "set", "--base", "2"], env)).text, /baseFee +2/);
});

test("what waits is listed, approved and rejected", async () => {
  await using api = await testApi();
  const env = { PUBLIC_URL: api.url, ADMIN_API_KEY: await api.addKey(null, { permissions: ALL }) };
  const { id } = await api.addMerchant("100");
  await api.sql`
    INSERT INTO hub.reseller (id, merchant_id, name, withdrawal_address, network)
    VALUES ('rsl_1', ${id}, 'Reseller', ${SOMEWHERE}, 'TRX')`;
  const key = await api.addKey(id, { role: "RESELLER" });
  const ids: string[] = [];
  for (let i = 0; i < 2; i++) {
    const { body } = await api.call("POST", "/api/withdrawals", {
      key,
      body: { amount: "10", currency: "USDT", network: "TRX", destination: SOMEWHERE },
    });
    ids.push(body.withdrawalId);
  }
  const [first = "", second = ""] = ids;
  const { text } = await run(["approvals", "list"], env);
  for (const waiting of ids) assertStringIncludes(text, waiting);
  assertMatch((await run(["approvals", "approve", first], env)).text, /status +PENDING/);
  assertEquals((await run(["approvals", "reject", second], env)).code, 1);
  const rejected = await run(["approvals", "reject", second, "--reason", "no"], env);
  assertMatch(rejected.text, /status +CANCELLED/);
  const again = await run(["approvals", "reject", first, "--reason", "no"], env);
  assertEquals(again.code, 1);
  assertStringIncludes(again.text, "409 Conflict: Cannot move from PENDING to CANCELLED.");
  assertEquals((await run(["approvals", "approve", "nonsense"], env)).code, 1);
  assertEquals(await booksFaults(api.sql), []);
});

test("resellers, deposits by hand and settlement addresses from the command line", async () => {
  await using api = await testApi();
  const env = { PUBLIC_URL: api.url, ADMIN_API_KEY: await api.addKey(null, { permissions: ALL }) };
  const { id, key } = await api.addMerchant("100");
  const made = await run(
    ["resellers", "create", "--name", "Line", "--address", SOMEWHERE, "--network", "TRX"],
    env,
  );
  const reseller = /^id +(\S+)$/m.exec(made.text)?.[1] ?? "";
  const attached = await run(
    ["resellers", "attach", id, "--reseller", reseller, "--margin", "0.5"],
    env,
  );
  assertMatch(attached.text, /marginRate +0\.5/);
  assertMatch((await run(["resellers", "attach", id], env)).text, /resellerId +-/);
  assertStringIncludes((await run(["resellers", "list"], env)).text, reseller);
  const booked = await api.call("POST", "/api/deposits", {
    key,
    body: { amount: "3", currency: "USDT", network: "TRX", source: "bank" },
  });
  assertStringIncludes((await run(["deposits", "list"], env)).text, booked.body.id);
  const confirmed = await run(["deposits", "confirm", booked.body.id], env);
  assertMatch(confirmed.text, /status +CONFIRMED/);
  const address = await api.call("POST", "/api/settlement-addresses", {
    key,
    body: { address: SOMEWHERE, network: "TRX", label: "cold" },
  });
  const waiting = await run(["addresses", "list", "--inactive"], env);
  assertStringIncludes(waiting.text, address.body.id);
  const active = await run(["addresses", "activate", address.body.id], env);
  assertMatch(active.text, /active +true/);
  assertEquals((await run(["rescan", "TRX", "1", "2"], env)).code, 1);
  await api.sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, quarantine, data)
    VALUES (${id}, 'TRX', 'abc', -1, 'outcome', 'unexpected: nothing', '{}')`;
  assertStringIncludes((await run(["inbox", "list"], env)).text, "TRX/abc/-1/outcome");
  assertEquals((await run(["inbox", "retry", id, "TRX/abc/-1/outcome"], env)).code, 1);
  const dealt = ["inbox", "acknowledge", id, "TRX/abc/-1/outcome", "--reason", "paid by hand"];
  assertMatch((await run(dealt, env)).text, /success +true/);
});

test("the list of holds does not say that payouts are signed, as it does not ask the signer", async () => {
  await using api = await testApi();
  const env = {
    PUBLIC_URL: `${api.url}/`,
    ADMIN_API_KEY: await api.addKey(null, { permissions: ALL }),
  };
  const { code, text } = await run(["failover"], env);
  assertEquals(code, 0);
  assertEquals(
    text,
    "Nothing here stops payouts. Does the signer answer? deno task signer status",
  );
});

test("a command that cannot speak to the service names what is missing, and nothing that is there", async () => {
  const folder = await Deno.makeTempDir();
  const said = async (env: Record<string, string>) =>
    (await run(["failover"], { DATA_DIR: folder, ...env })).text.split(",")[0];
  try {
    const access = { PUBLIC_URL: "http://127.0.0.1:9", ADMIN_API_KEY: "sk" };
    const { PUBLIC_URL, ADMIN_API_KEY } = access;
    const cannot = "Cannot speak to the service as";
    assertEquals(await said({ PUBLIC_URL }), `${cannot} ADMIN_API_KEY is not set`);
    assertEquals(await said({ ADMIN_API_KEY }), `${cannot} PUBLIC_URL is not set`);
    assertEquals(await said({}), `${cannot} ADMIN_API_KEY and PUBLIC_URL are not set`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

test("a word alone shows its list, with the options of that", async () => {
  await using api = await testApi();
  const env = { PUBLIC_URL: api.url, ADMIN_API_KEY: await api.addKey(null, { permissions: ALL }) };
  const lists = ["merchants", "approvals", "deposits", "addresses", "resellers", "inbox", "pairs"];
  for (const word of lists) {
    assertEquals(await run([word], env), await run([word, "list"], env), word);
    assertEquals((await run([word], env)).code, 0, word);
  }
  assertEquals(await run(["fees"], env), await run(["fees", "show"], env));
  const { id } = await api.addMerchant();
  assertStringIncludes((await run(["merchants", "--status", "ACTIVE"], env)).text, id);
  assertEquals((await run(["merchants", "--status", "SUSPENDED"], env)).text, "(none)");
});

test("in the usage a verb and its text are apart, however long the verb is", async () => {
  const { text } = await run([], {});
  const lines = text.split("\n");
  for (const verb of ["retry", "acknowledge"]) {
    const at = lines.findIndex((line) => line.startsWith(`  inbox ${verb} `));
    assertMatch(lines[at] ?? "", /<network\/txid\/log\/phase>( \[--reason TEXT\])?$/);
    assertMatch(lines[at + 1] ?? "", /^ {44}\S/);
  }
  assertMatch(text, /^ {2}keys revoke <merchant-id\|admin> <key-id> {2,}ends a key/m);
});

test("a command line that makes no sense says what would", async () => {
  const nowhere = { DATA_DIR: "/nonexistent" };
  const senseless = [[], ["keys"], ["merchants", "shwo"], ["merchants", "show"], [
    "treasury",
    "--x",
  ]];
  for (const line of [...senseless, ["pairs", "--x"]]) {
    const { code, text } = await run(line, nowhere);
    assertEquals(code, 2);
    assert(text.length > 0);
  }
  const lost = await run(["treasury"], nowhere);
  assertEquals(lost.code, 1);
  assertStringIncludes(lost.text, "ADMIN_API_KEY");
  const silent = await run(["treasury"], {
    PUBLIC_URL: "http://127.0.0.1:9",
    ADMIN_API_KEY: "sk_test",
  });
  assertEquals(silent.code, 1);
  assertStringIncludes(silent.text, "Cannot reach the service");
});

test("the first administrator's key is made once, outside development only", async () => {
  await using database = await testDatabase({ migrated: false });
  const env = { ENVIRONMENT: "staging", DATABASE_URL: database.url };
  const [one, two] = await Promise.all([run(["bootstrap"], env), run(["bootstrap"], env)]);
  assertEquals([one.code, two.code].sort(), [0, 1]);
  const made = one.code === 0 ? one : two;
  assertMatch(made.text, /^sk_staging_[0-9A-Za-z]{49}$/m);
  assertEquals((await run(["bootstrap"], env)).code, 1);
  const keys = await database.sql`SELECT role, permissions FROM hub.api_key`;
  assertEquals(keys.map((row) => row.role), ["ADMIN"]);
  assertEquals((await run(["bootstrap"], { DATABASE_URL: database.url })).code, 1);
  assertEquals((await run(["bootstrap"], { ENVIRONMENT: "production" })).code, 1);
  await database.sql`UPDATE hub.api_key SET revoked_at = now()`;
  assertEquals((await run(["bootstrap"], env)).code, 0);
});

test("thresholds of settlements and merchants' endpoints from the command line", async () => {
  await using api = await testApi();
  const env = { PUBLIC_URL: api.url, ADMIN_API_KEY: await api.addKey(null, { permissions: ALL }) };
  assertMatch((await run(["settings"], env)).text, /^USDT +\d+$/m);
  assertMatch((await run(["settings", "set", "--usdt", "250.5"], env)).text, /^USDT +250\.5$/m);
  assertMatch((await run(["settings", "show"], env)).text, /^USDT +250\.5$/m);
  const { id, key } = await api.addMerchant();
  assertMatch((await run(["callbacks", "status", id], env)).text, /^state +off$/m);
  await api.call("PATCH", `/api/merchants/${id}`, {
    key,
    body: { webhookUrl: "https://shop.example/hook", webhookEnabled: true },
  });
  assertMatch((await run(["callbacks", "resume", id], env)).text, /^state +active$/m);
  await api.sql`
    INSERT INTO book.outbox (id, merchant_id, type, payment_id, payload, status, created_at)
    SELECT event, ${id}, 'withdrawal.confirmed', 'wd_1', '{}', 'FAILED', now()
    FROM unnest(${[newId("evt"), newId("evt"), newId("evt")]}::text[]) event`;
  const again = await run(["callbacks", "redeliver", id], env);
  assertEquals([again.code, again.text], [0, "3 events are sent again."]);
  const none = await run(["callbacks", "redeliver", id, "--from", "2020-01-01"], env);
  assertEquals(none.text, "0 events are sent again.");
  assertEquals((await run(["callbacks", "status", "mer_none"], env)).code, 1);
});

test("a network whose nodes are silent is not shown as read to its end, and they are named", async () => {
  let silentMs = 2_000;
  const status = () => ({
    chainSolid: 1_202,
    readSolid: 1_202,
    readSolidTime: Date.now(),
    signsFrom: 1_202,
    comparison: "over" as const,
    readHead: 1_219,
    reachedAt: performance.now() - silentMs,
    headReachedAt: null,
    headAgeMs: null,
    isHeadRead: true,
    blocksRead: 10,
    catchUp: null,
    stopped: null,
    unreadable: [],
    restMs: 0,
  });
  const node = (failure: string | null) => ({
    name: "node.example",
    state: failure === null ? "ready" as const : "cooling-down" as const,
    coolDownMs: 0,
    suspendedMs: 0,
    callsPerSecond: null,
    coolingCalls: 0,
    unserved: [],
    callsToday: 0,
    dailyCalls: null,
    failure,
  });
  let failure: string | null = null;
  await using api = await testApi({
    chains: new Map([["TRX", paperChain("TRX")]]),
    scanOf: () => ({ status: status(), nodes: [node(failure)] }),
  });
  const env = { PUBLIC_URL: api.url, ADMIN_API_KEY: await api.addKey(null, { permissions: ALL }) };
  const well = await run(["chains"], env);
  assertMatch(well.text, /^TRX .* 0 +2 s ago/m);
  assert(!well.text.includes("no node tells"), well.text);

  [silentMs, failure] = [64_000, "connection refused"];
  const { text } = await run(["chains"], env);
  assertMatch(text, /^TRX .* unknown +64 s ago/m);
  assertStringIncludes(text, "TRX: no node tells how long the chain is");
  assertStringIncludes(text, "TRX: node node.example is cooling-down: connection refused");

  // nodes that answer, asked for nothing but blocks while many are left
  failure = null;
  assertMatch((await run(["chains"], env)).text, /^TRX .* 0 +64 s ago/m);
});

test("a payout above the signer's cap is in the list of approvals until it is given up and refunded", async () => {
  await using api = await testApi();
  const env = {
    PUBLIC_URL: api.url,
    ADMIN_API_KEY: await api.addKey(null, { permissions: ALL }),
    INGEST_SECRET,
  };
  const { key } = await api.addMerchant("100");
  const balance = async () =>
    (await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key })).body.available;
  const before = await balance();
  const made = await api.call("POST", "/api/withdrawals", {
    key,
    body: { amount: "10", currency: "USDT", network: "TRX", destination: SOMEWHERE },
  });
  const id = made.body.withdrawalId;
  assertEquals((await run(["approvals"], env)).text, "(none)");
  await api.sql`
    UPDATE book.outgoing
    SET reason = 'signer: over-limit: Cannot sign it as it is more than 5 per transaction'`;
  assertMatch((await run(["approvals"], env)).text, new RegExp(`^${id} +signer_cap `, "m"));
  const given = await run(["withdrawals", "fail", id, "--reason", "too large"], env);
  assertEquals(given.code, 0, given.text);
  assertEquals((await run(["approvals"], env)).text, "(none)");
  assertEquals(await balance(), before);
});
