import { assert, assertEquals } from "@std/assert";
import { needs } from "../support/permissions.ts";
import { circlesOf } from "./circles.ts";
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
