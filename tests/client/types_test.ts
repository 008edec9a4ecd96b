import { assert, assertEquals, assertThrows } from "@std/assert";
import { clientTypes } from "../../app/commands/client_types.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ read: true });

const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));

test("client: its types are those of the reference", async () => {
  assert(
    await read("client/openapi_types.ts") ===
      clientTypes(JSON.parse(await read("docs/openapi.json"))),
    "client/openapi_types.ts is not up to date: run `deno task client-types`",
  );
});

test("client: a schema that cannot be typed is refused instead of being left open", () => {
  const schema = { type: "tuple" };
  const document = {
    paths: {},
    webhooks: {},
    components: { schemas: { A: schema }, parameters: {} },
  };
  assertThrows(() => clientTypes(document), TypeError, "Cannot type a schema");
});

test("client: it imports nothing but its own files and modules that Deno and Node bring", async () => {
  const foreign: string[] = [];
  for (const name of ["client.ts", "webhook_receiver.ts", "openapi_types.ts"]) {
    const imports = (await read(`client/${name}`)).matchAll(/^import[^"]*"([^"]+)"/gm);
    for (const [, from = ""] of imports) {
      if (!/^(\.\/\w+\.ts|node:(buffer|crypto|http))$/.test(from)) foreign.push(from);
    }
  }
  assertEquals(foreign, []);
});
