import { assert, assertEquals } from "@std/assert";
import { withParts } from "../../app/commands/merchant_guide.ts";
import { EVENT_PAYLOADS } from "../../api/callbacks/event_payloads.ts";
import { needs } from "../support/permissions.ts";

const ignore = needs({ net: true, read: true, write: true, run: true, env: true, sys: true });
const GUIDE = new URL("../../docs/merchant.md", import.meta.url);

/** Fast blocks, final three blocks later. */
const ENV = { DEV_CHAIN_BLOCK_MS: "150", DEV_CHAIN_SOLID_LAG: "3" };

/** Programs that the guide's commands need. */
const PROGRAMS = ["bash", "curl", "jq"];

async function missingPrograms(): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const program of PROGRAMS) {
    try {
      await new Deno.Command(program, { args: ["--version"] }).output();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      missing.push(program);
    }
  }
  return missing;
}

/** A command of the guide, and what it prints. */
interface Shown {
  readonly command: string;
  readonly printed: string;
}

/** The guide's commands in their order; a block of JSON right behind one is what it prints. */
function commandsOf(guide: string): readonly Shown[] {
  const blocks = guide.matchAll(/^```sh\n(.*?)^```\n(?:\n```json\n(.*?)^```\n)?/gms);
  return [...blocks].map(([, command = "", printed = ""]) => ({ command, printed }));
}

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
      const marker = "-- the next command --";
      const script = commands.map(({ command }) => command).join(`echo '${marker}'\n`)
        .replaceAll(".data/", `${service.dataDir}/`);
      const { success, stdout, stderr } = await new Deno.Command("bash", {
        args: ["-euo", "pipefail", "-c", script],
        signal: AbortSignal.timeout(180_000),
      }).output();
      const printed = new TextDecoder().decode(stdout).split(`${marker}\n`);
      for (const [i, shown] of commands.entries()) {
        await t.step(shown.command.split("\n")[0] ?? "", () => {
          assertEquals(printed[i] ?? "(it was not reached)", shown.printed);
        });
      }
      assert(success, new TextDecoder().decode(stderr));

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
