import { assert, assertEquals } from "@std/assert";
import { needs } from "../support/permissions.ts";
import { circlesOf } from "./circles.ts";
import { unusedExports } from "./export_rule.ts";
import { RULES, type Violation } from "./rules.ts";
import { repositoryFiles, type SourceFile, sourceFile } from "./source_file.ts";

const ignore = needs({ read: true });
const files: readonly SourceFile[] = ignore ? [] : await repositoryFiles();

function told(file: SourceFile, violation: Violation): string {
  const line = file.text.slice(0, violation.at).split("\n").length;
  return `${file.path}:${line}: ${violation.banned} is banned, use ${violation.use}`;
}

for (const rule of RULES) {
  Deno.test({
    name: `repository: ${rule.name}`,
    ignore,
    fn: () => {
      assertEquals(files.flatMap((file) => rule.check(file).map((found) => told(file, found))), []);
    },
  });

  Deno.test(`the rule "${rule.name}" catches what breaks it and nothing else`, () => {
    assert(rule.check(sourceFile(rule.broken.path, rule.broken.text)).length > 0);
    assertEquals(rule.check(sourceFile(rule.kept.path, rule.kept.text)), []);
  });
}

Deno.test({
  name: "repository: no files import one another in a circle",
  ignore,
  fn: () => {
    assertEquals(circlesOf(files.filter(({ path }) => /^(?!tests\/).*\.tsx?$/.test(path))), []);
  },
});

Deno.test("a circle of files is found, whatever else they import", () => {
  const file = (path: string, ...targets: string[]) =>
    sourceFile(path, targets.map((target) => `import "${target}";`).join("\n"));
  const files = [
    file("a/one.ts", "./two.ts", "../b/four.ts"),
    file("a/two.ts", "./three.ts"),
    file("a/three.ts", "./one.ts", "../b/four.ts"),
    file("b/four.ts", "./five.ts"),
    file("b/five.ts"),
  ];
  assertEquals(circlesOf(files), [["a/one.ts", "a/three.ts", "a/two.ts"]]);
  assertEquals(circlesOf(files.slice(1)), []);
});

Deno.test({
  name: "repository: an export has a user outside tests",
  ignore,
  fn: () => assertEquals(unusedExports(files), []),
});

Deno.test("the rule about exports catches what only tests use, and what is used at home", () => {
  const found = unusedExports([
    sourceFile(
      "ledger/a.ts",
      [
        "export function lonely(): void {}",
        "export const atHome = 1;",
        "export function inside(): number { return atHome; }",
        "export interface Shape { readonly a: 1 }",
        "export interface Unseen { readonly a: 1 }",
        "export function abroad(shape: Shape): void {}",
        "export const late = 2;",
      ].join("\n"),
    ),
    sourceFile(
      "ledger/b.ts",
      `import { abroad } from "./a.ts";\nconst { late } = await import("./a.ts");`,
    ),
    sourceFile("tests/a_test.ts", `import { inside, lonely } from "../ledger/a.ts";`),
  ]);
  assertEquals(found, [
    "ledger/a.ts: lonely is used by nothing but tests",
    "ledger/a.ts: atHome need not be exported",
    "ledger/a.ts: inside is used by nothing but tests",
    "ledger/a.ts: Unseen is used by nothing but tests",
  ]);
});

Deno.test("comments and strings are told from code", () => {
  const text =
    'a; // b "c"\nconst d = `e ${f({ g: `h` })} i`; /* j */ k(/l"/, "m // n"); o / p / q;';
  const { code, uncommented } = sourceFile("a.ts", text);
  assertEquals(code.length, text.length);
  assertEquals(
    code.replace(/ +/g, " "),
    "a; \nconst d = ` ${f({ g: ` ` })} `; k( , ); o / p / q;",
  );
  assert(uncommented.includes('"m // n"') && !uncommented.includes("j"));
});
