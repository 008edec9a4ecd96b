/**
 * Files of the repository, as the rules look at them.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { join } from "node:path";

/** The repository's root. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

const SKIPPED = new Set([".git", "node_modules", ".data", "coverage", "output"]);
const TEXTS =
  /\.(ts|tsx|sql|md|json|jsonc|lock|sh|yml|yaml|css|html|example)$|^(\.ci\/run|LICENSE)$/;

/** One file. */
export interface SourceFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The text with comments blanked; same lines, same columns. */
  readonly uncommented: string;
  /** The text with all but its comments blanked. */
  readonly comments: string;
  /** The text with comments and the contents of strings and patterns blanked. */
  readonly code: string;
}

/** Makes a {@linkcode SourceFile} of a text. */
export function sourceFile(path: string, text: string): SourceFile {
  const isCode = /\.tsx?$/.test(path);
  const uncommented = isCode
    ? blank(text, false)
    : path.endsWith(".sql")
    ? text.replace(/--[^\n]*/g, (comment) => " ".repeat(comment.length))
    : text;
  return {
    path,
    text,
    uncommented,
    comments: isCode || path.endsWith(".sql") ? commentsOf(text, uncommented) : "",
    code: isCode ? blank(text, true) : text,
  };
}

/** Reads every text file of the repository. */
export async function repositoryFiles(): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = [];
  async function walk(folder: string): Promise<void> {
    for await (const entry of Deno.readDir(join(ROOT, folder))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory && !SKIPPED.has(entry.name)) await walk(path);
      if (entry.isFile && TEXTS.test(path)) {
        files.push(sourceFile(path, await Deno.readTextFile(join(ROOT, path))));
      }
    }
  }
  await walk("");
  return files.sort((a, b) => a.path < b.path ? -1 : 1);
}

/** Blanks what comments and the text without them share. */
function commentsOf(text: string, uncommented: string): string {
  const rest = uncommented.split("\n");
  return text.split("\n").map((line, at) => {
    const kept = rest[at] ?? "";
    if (line === kept) return " ".repeat(line.length);
    const chars = line.split("").map((char, column) => char === kept[column] ? " " : char);
    return chars.join("").padEnd(line.length);
  }).join("\n");
}

const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`|\}|\{|(?<=(?:^|[=(,:;!&|?{}[\n]|return|=>)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//g;

/**
 * Blanks comments, and with `strings` what stands in strings, templates and patterns. The code
 * inside `${}` of a template stays.
 */
function blank(text: string, strings: boolean): string {
  let out = "";
  let at = 0;
  // One entry per open template or `${`: the depth of braces inside it.
  const nesting: number[] = [];
  const take = (to: number, hidden: boolean) => {
    const part = text.slice(at, to);
    out += hidden ? part.replace(/[^\n]/g, " ") : part;
    at = to;
  };
  const template = () => {
    // At the first character of a template's text: up to its end or to the next `${`.
    const end = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(`|\$\{)/y;
    end.lastIndex = at;
    const match = end.exec(text);
    if (match === null) return take(text.length, strings);
    take(end.lastIndex - (match[1] as string).length, strings);
    take(end.lastIndex, false);
    if (match[1] === "${") nesting.push(0);
  };
  for (;;) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) break;
    const token = match[0];
    take(match.index, false);
    if (token === "`") {
      take(at + 1, false);
      template();
    } else if (token === "{" || token === "}") {
      take(at + 1, false);
      const depth = nesting.pop();
      if (depth === undefined) continue;
      if (token === "{") nesting.push(depth + 1);
      else if (depth > 0) nesting.push(depth - 1);
      else template();
    } else {
      const isComment = token.startsWith("//") || token.startsWith("/*");
      take(at + token.length, isComment || strings);
    }
  }
  take(text.length, false);
  return out;
}
