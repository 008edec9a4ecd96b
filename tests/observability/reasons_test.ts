import { assert, assertEquals } from "@std/assert";
import { kindOf, REASON_KINDS } from "../../app/health/reason_table.ts";
import { testNeeding } from "../support/permissions.ts";

/** Literals of a source, with `X` for what is filled in, and parts that are added up as one. */
function sentences(source: string): readonly string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*(\/\/|import).*$/gm, "");
  const literal = /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/.source;
  const found = code.match(new RegExp(`(?:${literal})(?:\\s*\\+\\s*(?:${literal}))*`, "g")) ?? [];
  return found.map((text) =>
    text.replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "7").replaceAll(/["`]\s*\+\s*["`]/g, "").slice(
      1,
      -1,
    )
  ).filter((text) => text.split(" ").length >= 3);
}

/** The files that put reasons into words. */
const FILES = [
  "addresses",
  "books",
  "callbacks",
  "chains",
  "clocks",
  "deposits",
  "doors",
  "failover",
  "places",
  "pools",
  "process",
  "rates",
  "readiness",
  "sweeps",
  "treasury",
  "work",
].map((name) => `app/health/${name}.ts`);

/** Parts of sentences. */
const PARTS =
  /^merchants? waits?$|^7 merchants? waits?$|^1 merchant waits$|^an open transaction|addresses that were paid$|'s oldest |'s unread block |^no answer in time$|^it was not asked|^what |transfers left wallets unknown$|^the wallet's own/;

testNeeding({ read: true })(
  "every reason of readiness has a kind of its own, which alerts go by",
  async () => {
    const unknown: string[] = [];
    const met = new Set<string>();
    for (const file of [...FILES, "app/http/warming.ts"]) {
      const text = await Deno.readTextFile(new URL(`../../${file}`, import.meta.url));
      for (const sentence of sentences(text)) {
        const kind = kindOf(sentence);
        met.add(kind);
        if (kind === "other" && !PARTS.test(sentence)) unknown.push(`${file}: ${sentence}`);
      }
    }
    assertEquals(unknown, []);
    const unmet = REASON_KINDS.filter((kind) => !met.has(kind));
    // the words of these come from the database, from the token and from the check of a chain
    assert(unmet.length <= 3, unmet.join());
  },
);
