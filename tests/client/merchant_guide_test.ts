import { assert, assertEquals, assertMatch } from "@std/assert";
import { type IdPrefix, newId } from "../../actors/runtime/ids.ts";
import { withParts } from "../../app/commands/merchant_guide.ts";
import { EVENT_PAYLOADS } from "../../api/callbacks/event_payloads.ts";
import { needs } from "../support/permissions.ts";
import { commandsOf, missingPrograms, runCommands } from "../support/shown_commands.ts";

const ignore = needs({ net: true, read: true, write: true, run: true, env: true, sys: true });
const GUIDE = new URL("../../docs/merchant.md", import.meta.url);

/** Fast blocks, final three blocks later. */
const ENV = { DEV_CHAIN_BLOCK_MS: "150", DEV_CHAIN_SOLID_LAG: "3" };

/** Names of the fields of a body, nested ones too. */
function fieldsOf(value: unknown, before = ""): readonly string[] {
  if (typeof value !== "object" || value === null) return [before];
  return Object.entries(value).flatMap(([name, inner]) => fieldsOf(inner, `${before}.${name}`));
}

const missing = ignore ? [] : await missingPrograms();
const skipped = missing.length === 0 ? "" : ` (skipped: there is no ${missing.join(", ")} here)`;

Deno.test({
  name: "merchant's guide: errors, events and limits are the service's own",
  ignore: needs({ read: true }),
  fn: async () => {
    const guide = await Deno.readTextFile(GUIDE);
    assert(
      guide === withParts(guide),
      "docs/merchant.md is not up to date: run `deno task merchant-guide`",
    );
    const examples = [...guide.matchAll(/^`([a-z.]+)`:\n\n```json\n(.*?)^```/gms)].map(([, name]) =>
      name
    );
    assertEquals(examples, Object.keys(EVENT_PAYLOADS));
  },
});

async function hmac(key: BufferSource, text: string): Promise<Uint8Array> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, new TextEncoder().encode(text)));
}

Deno.test({
  name: "merchant's guide: its formulas make the signatures of its example",
  ignore: needs({ read: true }),
  fn: async () => {
    const guide = await Deno.readTextFile(GUIDE);
    const [, part = ""] = guide.split(/<!-- (?:begin|end): signature -->/);
    const rows = [...part.matchAll(/^\| ([\w-]+) \| `(.*)` \|$/gm)];
    const values = new Map(rows.map(([, name = "", value = ""]) => [name, value]));
    const value = (name: string) => values.get(name) ?? "";
    const secret = value("secret");
    const body = value("body");
    const own = await hmac(new TextEncoder().encode(secret), body);
    assertEquals(value("X-Webhook-Signature"), own.toHex());
    const key = Uint8Array.fromBase64(secret.replace("whsec_", ""));
    const signed = `${value("webhook-id")}.${value("webhook-timestamp")}.${body}`;
    assertEquals(value("webhook-signature"), `v1,${(await hmac(key, signed)).toBase64()}`);
  },
});

Deno.test({
  name: "merchant's guide: an id is a prefix and a UUID, and has 40 characters at most",
  ignore: needs({ read: true }),
  fn: async () => {
    const guide = await Deno.readTextFile(GUIDE);
    const [, part = ""] = guide.split(/^## (?:Identifiers|Small deposits)$/m);
    const prefixes = [...part.matchAll(/`([a-z]{2,3})` /g)].map(([, prefix = ""]) => prefix);
    assertEquals(prefixes.length, 9);
    for (const prefix of prefixes as IdPrefix[]) {
      const id = newId(prefix);
      assertMatch(id, new RegExp(`^${prefix}_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`));
      assert(id.length <= 40);
    }
  },
});

Deno.test({
  name: `merchant's guide: every command prints what the guide says${skipped}`,
  ignore: ignore || skipped !== "",
  fn: async (t) => {
    const { withService } = await import("../support/service.ts");
    const guide = await Deno.readTextFile(GUIDE);
    const commands = commandsOf(guide);
    assert(commands.length > 8, "the guide's commands are found");
    await withService(async (service) => {
      await service.start();
      await runCommands(t, commands, service.dataDir);

      await t.step("the bodies of its callbacks have the fields that it shows", async () => {
        const { baseUrl, merchant } = service.credentials;
        const response = await fetch(`${baseUrl}/api/webhook-deliveries`, {
          headers: { authorization: merchant.apiKey },
        });
        const { deliveries } = await response.json();
        const sent = new Map<string, unknown>();
        for (const { event, payload } of deliveries) sent.set(event, payload);
        assertEquals([...sent.keys()].toSorted(), [
          "deposit.confirmed",
          "transaction.confirmed",
          "withdrawal.confirmed",
        ]);
        for (const [event, payload] of sent) {
          const [, shown = "{}"] = guide.split(`\`${event}\`:\n\n\`\`\`json\n`);
          const example: unknown = JSON.parse(shown.split("```")[0] ?? "");
          assertEquals(fieldsOf(payload), fieldsOf(example), event);
        }
      });
    }, { env: ENV });
  },
});

Deno.test({
  name: `the first minutes of README.md print what it says${skipped}`,
  ignore: ignore || skipped !== "",
  fn: async (t) => {
    const { withService } = await import("../support/service.ts");
    const text = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
    const [, part = ""] = text.split(/^## A paid deposit and a payout, with curl$/m);
    const [shown = ""] = part.split("Callbacks go to a URL of yours");
    const commands = commandsOf(shown);
    assertEquals(commands.length, 5);
    await withService(async (service) => {
      await service.start();
      await runCommands(t, commands, service.dataDir);
    }, { env: ENV });
  },
});
