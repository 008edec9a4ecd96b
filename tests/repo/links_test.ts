import { assert, assertEquals } from "@std/assert";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { anchorOf } from "../support/anchors.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ read: true });
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FOLDERS = ["", "docs/"];
/** Folders whose texts name headings of pages. */
const SOURCES = ["app", "api", "deploy", "docs"];

/** Text of a page without what is code. */
const prose = (text: string) => text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "");

/** Headings of a page, as they stand there. */
const headingsOf = (text: string) =>
  [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);

/** Texts of all pages by their path from the root. */
async function pages(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const folder of FOLDERS) {
    for await (const { name, isFile } of Deno.readDir(ROOT + folder)) {
      if (isFile && name.endsWith(".md")) {
        found.set(folder + name, await Deno.readTextFile(ROOT + folder + name));
      }
    }
  }
  return found;
}

/** Links of a page that lead nowhere; links to other places than files are not looked at. */
function deadLinks(
  path: string,
  text: string,
  all: ReadonlyMap<string, string>,
  isThere: (path: string) => boolean,
): readonly string[] {
  return [...prose(text).matchAll(/\]\(([^)\s#:]*)(?:#([^)\s]*))?\)/g)].flatMap(
    ([link, file = "", anchor]) => {
      const target = file === "" ? path : normalize(join(dirname(path), file));
      const page = all.get(target);
      if (anchor === undefined) return isThere(target) ? [] : [`${path}: ${link}`];
      const anchors = headingsOf(page ?? "").map(anchorOf);
      return anchors.includes(anchor) ? [] : [`${path}: ${link}`];
    },
  );
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(ROOT + path);
    return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return false;
  }
}

Deno.test("a link to a heading or a file that there is not is found", () => {
  const all = new Map([["docs/a.md", "# One thing\n"], ["b.md", ""]]);
  const dead = (text: string) => deadLinks("docs/a.md", text, all, (path) => all.has(path)).length;
  assertEquals(dead("# One thing\n[x](#one-thing) [x](../b.md) [x](a.md#one-thing)"), 0);
  assertEquals(dead("[x](#other) [x](c.md) [x](../b.md#one-thing)"), 3);
});

test("every link of the pages leads to a heading or a file that there is", async () => {
  const all = await pages();
  assert(all.size > 10, `${all.size} pages`);
  assertEquals([...all].flatMap(([path, text]) => deadLinks(path, text, all, isThere)), []);
});

test("every heading of a page that a message, an alert or a unit names is there", async () => {
  const all = await pages();
  const wrong: string[] = [];
  let named = 0;
  const look = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(ROOT + folder)) {
      const path = `${folder}/${name}`;
      if (isDirectory) await look(path);
      if (!/\.(ts|yml|yaml|service)$/.test(name)) continue;
      const text = (await Deno.readTextFile(ROOT + path)).replaceAll("\\", "");
      const links = text.matchAll(/(docs\/[\w-]+\.md)#([\w-]+)/g);
      for (const [whole, page = "", anchor = ""] of links) {
        named++;
        if (!headingsOf(all.get(page) ?? "").map(anchorOf).includes(anchor)) {
          wrong.push(`${path}: ${whole}`);
        }
      }
      const quoted = [
        ...[...text.matchAll(/(docs\/[\w-]+\.md), "([^"$]+)"/g)].map((
          [, page, heading],
        ) => [page, heading]),
        ...[...text.matchAll(/[Ss]ee "([^"$]+)" in ([\w-]+\.md)/g)].map((
          [, heading, page],
        ) => [`docs/${page}`, heading]),
      ];
      for (const [page = "", heading = ""] of quoted) {
        named++;
        if (!headingsOf(all.get(page) ?? "").includes(heading)) {
          wrong.push(`${path}: ${page}, ${heading}`);
        }
      }
    }
  };
  for (const folder of SOURCES) await look(folder);
  assertEquals(wrong, []);
  assert(named > 70, `${named} places`);
});
