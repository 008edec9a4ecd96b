/**
 * Exports that the service itself does not need.
 *
 * @module
 */

import { dirname, join } from "node:path/posix";
import type { SourceFile } from "./source_file.ts";

const TESTS = /^(tests|bench)\//;
/** Files that merchants' programs import, and examples of such programs. */
const EXAMPLES = /^(client|examples)\//;
/** Exports that tests alone read, with their purpose. */
const FOR_TESTS: Readonly<Record<string, string>> = {
  "actors/merchant/refusal.ts REFUSAL_CODES": "every refusal has its table",
  "api/http/key_ring.ts KEY_PATTERN": "the shape of a key, for secret scanners",
  "chains/evm/pay/sweep_delegate.ts creationData":
    "the contract's code, to be compared with its source",
  "devchain/signature.ts recoverAddress": "what the faster search for a signer has to find",
  "webhooks/secret_box.ts sealedWith": "which key a kept secret is under",
};
const EXPORT =
  /^export\s+(?:declare\s+|abstract\s+|async\s+)*(function\*?|class|const|let|interface|type|enum)\s+(\w+)/gm;
const IMPORT =
  /\b(?:import|export)\s+(?:type\s+)?(\{[^}]*\}|\*(?:\s+as\s+\w+)?)\s*from\s*"([^"]+)"/g;
const LATE = /(?:\{([^{}]*)\}\s*=\s*)?await\s+import\(\s*"([^"]+)"/g;

/** Names that files import from others, as `path name`; `path *` where all are. */
function imported(files: readonly SourceFile[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const file of files) {
    const imports = [...file.uncommented.matchAll(IMPORT), ...file.uncommented.matchAll(LATE)];
    for (const [, names = "*", specifier = ""] of imports) {
      const path = join(dirname(file.path), specifier);
      if (names.startsWith("*")) found.add(`${path} *`);
      for (const name of names.replace(/[{}]/g, "").split(",")) {
        found.add(`${path} ${name.trim().replace(/^type\s+/, "").split(/\s+as\s+|:/)[0]}`);
      }
    }
  }
  return found;
}

/**
 * Finds exports without a user outside tests: what only tests use, and what no other file uses
 * though it is exported. A value that its own file uses may be exported for a test, and a type that
 * its own file names for whoever calls it.
 */
export function unusedExports(files: readonly SourceFile[]): readonly string[] {
  const code = files.filter((file) => /\.tsx?$/.test(file.path));
  const product = code.filter((file) => !TESTS.test(file.path));
  const inProduct = imported(product);
  const anywhere = imported(code);
  return product.filter((file) => !EXAMPLES.test(file.path)).flatMap((file) => {
    if (inProduct.has(`${file.path} *`)) return [];
    return [...file.code.matchAll(EXPORT)].flatMap(([, kind = "", name = ""]) => {
      const key = `${file.path} ${name}`;
      if (inProduct.has(key) || key in FOR_TESTS) return [];
      if ([...file.code.matchAll(new RegExp(`\\b${name}\\b`, "g"))].length === 1) {
        return [`${file.path}: ${name} is used by nothing but tests`];
      }
      if (/interface|type/.test(kind) || anywhere.has(key) || anywhere.has(`${file.path} *`)) {
        return [];
      }
      return [`${file.path}: ${name} need not be exported`];
    });
  });
}
