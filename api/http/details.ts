/**
 * What is wrong with a request, field by field, in the words of the interface.
 *
 * @module
 */

import type { z } from "zod";
import type { Detail } from "./answer.ts";

/** The faults a schema found; the values that were sent are not repeated. */
export function detailsOf(error: z.ZodError): readonly Detail[] {
  return error.issues.map((issue) => ({
    path: issue.path.map(String),
    message: issue.message,
    code: codeOf(issue),
  }));
}

/** The interface names codes as zod 3 did. */
function codeOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_value":
      return "invalid_enum_value";
    case "invalid_format":
      return "invalid_string";
    case "invalid_key":
    case "invalid_element":
    case "invalid_type":
    case "invalid_union":
    case "too_big":
    case "too_small":
    case "not_multiple_of":
    case "unrecognized_keys":
    case "custom":
      return issue.code;
    default: {
      const never: never = issue;
      return never;
    }
  }
}

const FAULTS: Readonly<Record<string, string>> = {
  malformed: "The text cannot be read",
  too_deep: "Nested too deeply",
  duplicate_key: "A name occurs twice",
  forbidden_key: "A name is not allowed",
  forbidden_text: "NUL characters and lone surrogates are not allowed",
};

/** A fault of the whole body or query string. */
export function faultOf(code: string): Detail {
  return { path: [], message: FAULTS[code] ?? "The request cannot be read", code };
}
