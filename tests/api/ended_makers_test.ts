import { assertEquals } from "@std/assert";
import { type TestApi, testApi } from "../support/api.ts";
import { until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const KEY = { label: "new", permissions: ["read"] };

/** An interface that goes by what it has read of keys, as a node does for a second; with a maker of keys of each kind. */
async function forgetfulApi() {
  const at = Date.now();
  const api = await testApi({ clock: () => at });
  const { id, key } = await api.addMerchant();
  const admin = await api.addKey(null, { permissions: ["read", "write", "payout", "admin:write"] });
  const makers = await api.sql<{ id: string; merchant_id: string | null }[]>`
    SELECT id, merchant_id FROM hub.api_key`;
  await api.addKey(id);
  await api.addKey(null, { permissions: ["read", "admin:write"] });
  const administrator = makers.find(({ merchant_id }) => merchant_id === null)?.id ?? null;
  const others = await api.sql<{ id: string; merchant_id: string | null }[]>`
    UPDATE hub.api_key SET administrator = CASE WHEN role = 'ADMIN' THEN ${administrator} END
    WHERE id <> ALL (${makers.map((maker) => maker.id)}::text[]) RETURNING id, merchant_id`;
  const own = others.find(({ merchant_id }) => merchant_id !== null)?.id;
  const another = others.find(({ merchant_id }) => merchant_id === null)?.id;
  const path = `/api/merchants/${id}/api-keys`;
  const admins = "/api/admin/api-keys";
  for (const maker of [key, admin]) {
    assertEquals((await api.call("GET", path, { key: maker })).status, 200);
  }
  const changes: readonly [string, string, object][] = [
    [key, path, KEY],
    [key, `${path}/${own}/rotate`, {}],
    [admin, path, KEY],
    [admin, `${path}/${own}/rotate`, {}],
    [admin, admins, { ...KEY, permissions: ["read", "admin:write"] }],
    [admin, `${admins}/${another}/rotate`, {}],
  ];
  return { api, makers: makers.map(({ id }) => id), changes };
}

/** Status and error of each change. */
async function make(api: TestApi, changes: readonly (readonly [string, string, object])[]) {
  return await Promise.all(changes.map(async ([key, path, body]) => {
    const { status, body: answer } = await api.call("POST", path, { key, body });
    return [status, answer.error];
  }));
}

for (const [how, end] of [["revoked", "revoked_at"], ["let expire", "expires_at"]] as const) {
  test(`a key that another node has ${how} makes and replaces none, whatever is remembered of it`, async () => {
    const { api: opened, makers, changes } = await forgetfulApi();
    await using api = opened;
    await api.sql`UPDATE hub.api_key SET ${
      api.sql(end)
    } = now() WHERE id = ANY (${makers}::text[])`;
    assertEquals(await make(api, changes), changes.map(() => [401, "Unauthorized"]));
    const [row] = await api.sql`SELECT count(*)::int AS found FROM hub.api_key`;
    assertEquals(row?.["found"], 4);
  });
}

test("a key that is being revoked makes none beside that", async () => {
  const { api: opened, makers, changes } = await forgetfulApi();
  await using api = opened;
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const revoking = api.sql.begin(async (tx) => {
    await tx`UPDATE hub.api_key SET revoked_at = now() WHERE id = ANY (${makers}::text[])`;
    begun.resolve();
    await goOn.promise;
  });
  await begun.promise;
  const making = make(api, changes.slice(2, 3));
  await until(async () => {
    const [row] = await api.sql<{ found: number }[]>`
      SELECT count(*)::int AS found FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return row?.found === 1;
  });
  goOn.resolve();
  await revoking;
  assertEquals(await making, [[401, "Unauthorized"]]);
});
