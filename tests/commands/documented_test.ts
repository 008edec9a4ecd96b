import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { admin } from "../../app/commands/admin.ts";
import { signer } from "../../app/commands/signer.ts";
import { wallet } from "../../app/commands/wallet.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ read: true, write: true, net: true, env: true });
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PAGES = [
  "docs/operations.md",
  "docs/incidents.md",
  "docs/operations-reference.md",
  "docs/metrics.md",
  "docs/alerts.yml",
  "docs/wallet.md",
  "SECURITY.md",
  "README.md",
];

/** Every `deno task ...` of a page, as its words; what stands for something is a word as well. */
async function commandsOf(page: string): Promise<readonly (readonly string[])[]> {
  const text = await Deno.readTextFile(ROOT + page);
  const code = [
    ...[...text.matchAll(/`([^`\n]+)`/g)].map(([, line = ""]) => line),
    ...[...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = ""]) => block.split("\n")),
  ];
  return code.flatMap((line) => {
    const found = /deno task (?!-)([^#|;&>()]+)/.exec(line.replaceAll(/<([^<>\s]+)>/g, "$1"));
    if (found === null) return [];
    const words = (found[1] ?? "").trim().match(/"[^"]*"|\S+/g) ?? [];
    return [words.map((word) => word.replaceAll('"', ""))];
  });
}

test("every command that the pages name is a task, and its words are understood", async () => {
  const config: unknown = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const { tasks } = z.object({ tasks: z.record(z.string(), z.string()) }).parse(config);
  const folder = await Deno.makeTempDir();
  const nowhere = { PUBLIC_URL: "http://127.0.0.1:9", ADMIN_API_KEY: "sk", DATA_DIR: folder };
  const misunderstood: string[] = [];
  let understood = 0;
  try {
    for (const page of PAGES) {
      for (const [task = "", ...words] of await commandsOf(page)) {
        assert(task in tasks, `${page}: deno task ${task}`);
        const lines: string[] = [];
        const say = (...parts: unknown[]) => lines.push(parts.map(String).join(" "));
        const out = { log: say, error: say };
        const line = words.filter((word) => !/^\[|\]$/.test(word));
        // bare words of a table that stand for all of them, and what would start something
        if (line.length === 0 || line[0] === "doctor" || line.includes("$@")) continue;
        const code = task === "admin"
          ? await admin(line, nowhere, out)
          : task === "wallet"
          ? await wallet(line, {}, () => Promise.resolve(""), out)
          : task === "signer"
          ? await signer(line, {}, out)
          : 0;
        if (code === 2) misunderstood.push(`${page}: ${task} ${line.join(" ")}: ${lines[0]}`);
        else understood++;
      }
    }
    assertEquals(misunderstood, []);
    assert(understood > 50, `${understood} commands`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
