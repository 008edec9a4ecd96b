/**
 * Rules of the repository that the compiler cannot know.
 *
 * @module
 */

import { chainWords } from "./chain_words_rule.ts";
import { apiOrderViolations, importViolations } from "./import_rule.ts";
import type { SourceFile } from "./source_file.ts";

/** Something in a file that a rule bans. */
export interface Violation {
  /** Index in the file's text. */
  readonly at: number;
  readonly banned: string;
  readonly use: string;
}

/** One rule, with an example of what it must catch. */
export interface Rule {
  readonly name: string;
  readonly check: (file: SourceFile) => readonly Violation[];
  /** A file that breaks it. */
  readonly broken: { readonly path: string; readonly text: string };
  /** A file that looks similar and keeps it. */
  readonly kept: { readonly path: string; readonly text: string };
}

interface PatternRule {
  readonly files: RegExp;
  readonly except?: RegExp;
  readonly view: "text" | "uncommented" | "code" | "comments";
  readonly pattern: RegExp;
  readonly use: string;
}

/** Bans a pattern; the message quotes what was found. */
function ban(rule: PatternRule): Rule["check"] {
  return (file) => {
    if (!rule.files.test(file.path) || rule.except?.test(file.path)) return [];
    return [...file[rule.view].matchAll(new RegExp(rule.pattern, "g" + rule.pattern.flags))]
      .map((match) => ({
        at: match.index,
        banned: file.text.slice(match.index, match.index + match[0].length).trim().split("\n")[0] ??
          "",
        use: rule.use,
      }));
  };
}

const PRODUCT = /^(?!tests\/|bench\/).*\.tsx?$/;
const ANY_CODE = /\.tsx?$/;
const LONGEST_FILE = 350;
/** Files that are data and may be long. */
const DATA_FILES = /(^|\/)openapi[^/]*\.ts$|^api\/openapi\/|^ledger\/rows\.ts$|_table\.ts$/;
/** Types whose comments are descriptions of the API reference. */
const MADE_OF_REFERENCE = /^client\/openapi_types\.ts$/;
const MONEY_WORD = "amount|balance|commission|fees?|margin|available|pending|reserved|debit|gross";

export const RULES: readonly Rule[] = [
  {
    name: "imports go one way",
    check: importViolations,
    broken: { path: "ledger/a.ts", text: `import { b } from "../actors/b.ts";` },
    kept: { path: "actors/a.ts", text: `import { b } from "../ledger/b.ts";` },
  },
  {
    name: "actors, interface and ledger know no chain of their own",
    check: chainWords,
    broken: { path: "actors/a.ts", text: "const limit = sunOf(1); // in sun" },
    kept: { path: "actors/a.ts", text: `const key = "TRX_SHASTA"; // the sunny side of trons` },
  },
  {
    name: "in api, http knows no subject, subjects go one way, and openapi is above them",
    check: apiOrderViolations,
    broken: { path: "api/http/a.ts", text: `import { b } from "../deposits/b.ts";` },
    kept: { path: "api/upstream/a.ts", text: `import { b } from "../deposits/b.ts";` },
  },
  {
    name: "a subject of api does not know its reference",
    check: apiOrderViolations,
    broken: { path: "api/deposits/a.ts", text: `import { b } from "../openapi/b.ts";` },
    kept: { path: "api/openapi/a.ts", text: `import { b } from "../deposits/b.ts";` },
  },
  {
    name: "only the ledger, the durable timers and the start of the embedded server speak SQL",
    check: ban({
      files: PRODUCT,
      // a shop of the examples has books of its own
      except: /^(ledger\/|actors\/runtime\/|app\/postgres\/server\.ts$|examples\/)/,
      view: "uncommented",
      pattern:
        /\b(?:sql|tx)(?:<[^`;]*>)?`|["'`]\s*(?:SELECT\s|INSERT INTO\s|UPDATE\s+\w+\S*\s+SET\s|DELETE FROM\s)/,
      use: "a function of ledger/",
    }),
    broken: { path: "api/a.ts", text: "await sql<{ a: 1 }[]>`SELECT 1`;" },
    kept: { path: "ledger/a.ts", text: "await sql`SELECT 1`;" },
  },
  {
    name: "only the ledger and the composition roots open connections to the database",
    check: ban({
      files: PRODUCT,
      except: /^(ledger\/|main\.ts$|app\/)/,
      view: "uncommented",
      pattern: /\bimport (?!type)[^;]*from "(?:postgres|[^"]*ledger\/database\/connect\.ts)"/,
      use: "a pool that main.ts passes in",
    }),
    broken: { path: "actors/a.ts", text: `import postgres from "postgres";` },
    kept: { path: "actors/a.ts", text: `import type { Sql } from "postgres";` },
  },
  {
    name: "money never becomes a binary floating point number",
    check: ban({
      files: PRODUCT,
      // The development node counts in numbers, as the JSON of TRON nodes does.
      except: /^devchain\//,
      view: "code",
      pattern: new RegExp(
        String
          .raw`\bparseFloat\b|\b(?:Number|parseInt)\(\s*(?:[\w$]+[.?]+)*\w*(?:${MONEY_WORD})\b|` +
          String.raw`\bMath\.(?:round|floor|ceil)\(\s*(?:[\w$]+[.?]+)*\w*(?:${MONEY_WORD})\b`,
        "i",
      ),
      use: "ledger/money/amount.ts",
    }),
    broken: { path: "api/a.ts", text: "const x = Number(row.feeAmount) + 1;" },
    kept: { path: "api/a.ts", text: "const x = Number(query.page);" },
  },
  {
    name: "decisions take time and chance from their message",
    check: ban({
      files: /^actors\/.*\b(decide|apply|initial)/,
      view: "code",
      pattern:
        /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bcrypto\.\w+|\bperformance\.now\b|\brandomUUID\b|\bsetTimeout\b/,
      use: "what the message carries",
    }),
    broken: { path: "actors/merchant/decide.ts", text: "const at = Date.now();" },
    kept: { path: "actors/runtime/ids.ts", text: "const at = Date.now();" },
  },
  {
    name: "only the wallet and the signer see key material",
    check: ban({
      files: PRODUCT,
      // A transfer builder and the signature it makes run inside the signer.
      except:
        /^(chains\/(wallet\/|signer|\w+\/pay\/transfer_(builder|transaction)\.ts$)|devchain\/|app\/commands\/(signer|wallet))/,
      view: "code",
      pattern:
        /\w*(?:mnemonic|privateKey|private_key|secretKey|seedPhrase|xprv)\w*(?! !== null\))/i,
      use: "chains/wallet or the signer",
    }),
    broken: { path: "actors/a.ts", text: "const key = wallet.privateKey;" },
    kept: { path: "chains/wallet/a.ts", text: "const key = wallet.privateKey;" },
  },
  {
    name: "the public key of a deposit branch stays with those who derive addresses from it",
    check: ban({
      files: PRODUCT,
      except: /^(chains\/(wallet\/|deposit_branch\.ts$))/,
      view: "text",
      pattern: /\w*xpub\w*/i,
      use: "Chain.deriveAddress; the key is in no log and no answer",
    }),
    broken: { path: "api/operations/treasury.ts", text: "return { key: account.depositXpub };" },
    kept: { path: "api/operations/treasury.ts", text: "return chain.deriveAddress(index);" },
  },
  {
    name: "only commands print",
    check: ban({
      files: PRODUCT,
      except: /^(app\/open\/start\.ts$|main\.ts$|app\/commands\/)/,
      view: "code",
      pattern: /\bconsole\.\w+/,
      use: "logEvent of log/log_event.ts",
    }),
    broken: { path: "api/a.ts", text: "console.log(1);" },
    kept: { path: "app/commands/a.ts", text: "console.log(1);" },
  },
  {
    name: "no test is singled out",
    check: ban({
      files: /^(tests|bench)\//,
      except: /^tests\/repo\//,
      view: "code",
      pattern: /\.only\(|\bonly:\s*true/,
      use: "the whole suite",
    }),
    broken: { path: "tests/a_test.ts", text: "Deno.test.only(a);" },
    kept: { path: "tests/a_test.ts", text: "Deno.test(a);" },
  },
  {
    name: "nothing is left for later",
    check: ban({
      files: /./,
      except: /^(tests\/repo\/|deno\.lock$)/,
      view: "text",
      pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/,
      use: "the finished thing",
    }),
    broken: { path: "api/a.ts", text: "// TODO: later" },
    kept: { path: "api/a.ts", text: "// done" },
  },
  {
    name: "types are not talked out of",
    check: ban({
      files: ANY_CODE,
      view: "code",
      pattern: /\bas any\b|\bas unknown as\b|<any>/,
      use: "the real type, or unknown and a check",
    }),
    broken: { path: "tests/a.ts", text: "const a = b as unknown as C;" },
    kept: { path: "tests/a.ts", text: "const a: unknown = b;" },
  },
  {
    name: "the compiler is not silenced",
    check: ban({
      files: ANY_CODE,
      except: /^tests\/repo\//,
      view: "text",
      pattern: /@ts-(?:ignore|expect-error|nocheck)|deno-lint-ignore(?:-file)?(?![^\n]*--)/,
      use: "correct code, or a lint exception with its reason after --",
    }),
    broken: { path: "api/a.ts", text: "// @ts-ignore" },
    kept: { path: "api/a.ts", text: "// deno-lint-ignore no-console -- prints the url" },
  },
  {
    name: "only the HTTP interface and the table of refusals speak status codes",
    check: ban({
      files: PRODUCT,
      except:
        /^(api\/|actors\/merchant\/refusal\.ts$|devchain\/|app\/commands\/|app\/http\/serve\.ts$)/,
      view: "code",
      pattern: /\bstatus:\s*[1-5]\d\d\b|\bnew Response\(|\.json\([^()]*,\s*[1-5]\d\d\)/,
      use: "a refusal of actors/merchant/refusal.ts",
    }),
    broken: { path: "actors/a.ts", text: "return { status: 404 };" },
    kept: { path: "api/a.ts", text: "return { status: 404 };" },
  },
  {
    name: "files stay short enough to read",
    check: (file) => {
      const lines = file.uncommented.split("\n").filter((line) => line.trim() !== "").length;
      if (!PRODUCT.test(file.path) || DATA_FILES.test(file.path) || lines <= LONGEST_FILE) {
        return [];
      }
      return [{
        at: file.text.length - 1,
        banned: `a file of ${lines} lines of code`,
        use: `at most ${LONGEST_FILE}, one concept per file`,
      }];
    },
    broken: { path: "api/a.ts", text: "a;\n".repeat(LONGEST_FILE + 1) },
    kept: { path: "api/a.ts", text: "a;\n".repeat(LONGEST_FILE) },
  },
  {
    name: "a doc block names its subject",
    check: ban({
      files: /\.(tsx?|sql)$/,
      except: MADE_OF_REFERENCE,
      view: "comments",
      pattern: /\/\*\*\s+(?:\*\s+)?(?:What|Who|Whether|Where|How|Why|When)\b/,
      use: "a noun or a verb: the thing, not a question about it",
    }),
    broken: { path: "api/a.ts", text: "/** What lists work with. */\nexport const a = 1;" },
    kept: { path: "api/a.ts", text: "/** Options of lists. What they hold is checked. */" },
  },
  {
    name: "comments say who and what is meant",
    check: ban({
      files: /\.(tsx?|sql)$/,
      except: new RegExp(`^tests/repo/|${MADE_OF_REFERENCE.source}`),
      view: "comments",
      pattern: /\b(?:of ours|of theirs|somebody|nobody|whoever|is told)\b/i,
      use: "the name of the party, and returned, notified, logged or reported",
    }),
    broken: { path: "api/a.ts", text: "// whoever asks is told" },
    kept: { path: "api/a.ts", text: 'const a = "nobody"; // the merchant is notified' },
  },
  {
    name: "a description of the API reference names its subject",
    check: ban({
      files: /^api\//,
      // sentences that customers read, not descriptions
      except: /^api\/hosted_page\/texts\//,
      view: "uncommented",
      pattern: /["'`]What\s/,
      use: "a noun: the amount, the cost, the outcome",
    }),
    broken: { path: "api/a.ts", text: `f.decimal.meta({ description: "What was credited" });` },
    kept: {
      path: "api/a.ts",
      text: `f.decimal.meta({ description: "Amount that was credited" }); // "What"`,
    },
  },
  {
    name: "names are the field's, not private ones",
    check: ban({
      files: /^(?!tests\/|CHANGELOG).*\.(tsx?|sql|md)$/,
      // texts that customers and merchants have read for long
      except: /^api\/hosted_page\/texts\//,
      view: "text",
      pattern:
        /\b(?:landmarks?|bury|buried|burials?|purses?|gifts?|loans?|lend|lent|strangers?|setbacks?|set aside|the house's)\b/i,
      use: "the glossary of ARCHITECTURE.md",
    }),
    broken: { path: "actors/a.ts", text: "const landmark = 1;" },
    kept: { path: "actors/a.ts", text: "const checkpoint = 1;" },
  },
  {
    name: "every document has one title",
    check: (file) => {
      if (!file.path.endsWith(".md")) return [];
      const prose = file.text.replace(
        /^(```|~~~)[\s\S]*?^\1/gm,
        (code) => code.replace(/\S/g, " "),
      );
      const titles = [...prose.matchAll(/^# \S/gm)];
      if (titles.length === 1 && prose.trimStart().startsWith("# ")) return [];
      const at = titles[1]?.index ?? 0;
      return [{ at, banned: `${titles.length} titles`, use: "one `# Title`, first in the file" }];
    },
    broken: { path: "README.md", text: "# One\n\n# Two\n" },
    kept: { path: "README.md", text: "# One\n\n```sh\n# comment\n```\n\n## Two\n" },
  },
  {
    name: "nothing names one particular machine or registry",
    check: ban({
      files: /./,
      except: /^tests\/repo\//,
      view: "text",
      pattern:
        /(?<![\w.$}~*-])\/(?:home|Users|work|workspace|mnt)\/[\w.-]+|https?:\/\/[^\s"'<>]*(?:registry|artifactory|verdaccio|nexus)[^\s"'<>]*/,
      use: "a relative path, or no address at all",
    }),
    broken: { path: "README.md", text: "cd /home/somebody/engine" },
    kept: { path: "README.md", text: "cd engine/mnt/files" },
  },
];
