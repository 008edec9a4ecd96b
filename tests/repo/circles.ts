/**
 * Files that import one another in a circle: none of them can be read or changed alone.
 *
 * @module
 */

import { dirname, join } from "node:path/posix";
import { importsOf } from "./import_rule.ts";
import type { SourceFile } from "./source_file.ts";

/**
 * Finds circles of files.
 *
 * @returns each circle once, as the paths in it, sorted
 */
export function circlesOf(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const imports = new Map(files.map((file) => [
    file.path,
    importsOf(file).filter(({ specifier }) => specifier.startsWith("."))
      .map(({ specifier }) => join(dirname(file.path), specifier)),
  ]));
  // Tarjan's strongly connected components
  const order = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  function visit(path: string): number {
    const number = order.size;
    order.set(path, number);
    open.push(path);
    let low = number;
    for (const target of imports.get(path) ?? []) {
      if (!imports.has(target)) continue;
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (open.includes(target)) low = Math.min(low, order.get(target) ?? low);
    }
    if (low === number) {
      const circle = open.splice(open.indexOf(path));
      if (circle.length > 1) circles.push(circle.toSorted());
    }
    return low;
  }
  for (const path of imports.keys()) {
    if (!order.has(path)) visit(path);
  }
  return circles;
}
