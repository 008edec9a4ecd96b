import type { Draw } from "./draw.ts";
import { HOSTILE_TEXTS, HOSTILE_VALUES } from "./hostile_values.ts";
import { resolved, type SchemaNode, schemasIn } from "./reference.ts";

/** Share of the single values that are not what their schema asks for. */
const HOSTILE = 0.03;

/** Texts that answers have told: ids, addresses, tokens. */
export interface Known {
  /** One for a parameter or field of this name. */
  take(name: string, draw: Draw): string | null;
}

/** Texts that fit most patterns of the reference, tried in turn. */
const ORDINARY_TEXTS = ["10.5", "order-1001", "a", "1", "203.0.113.7", "deposit.confirmed", "USD"];

/**
 * A value that mostly fits its schema, and here and there is hostile.
 *
 * @param name of the field or parameter, by which known ids are found
 */
export function generatedValue(
  schema: SchemaNode,
  name: string,
  draw: Draw,
  known: Known,
): unknown {
  const node = resolved(schema);
  if (draw.chance(HOSTILE)) {
    return draw.chance(0.6) ? draw.of(HOSTILE_TEXTS) : draw.of(HOSTILE_VALUES);
  }
  if ("const" in node) return node.const;
  if (Array.isArray(node.enum)) {
    const usual = draw.chance(0.7) ? known.take(name, draw) : null;
    return node.enum.includes(usual) ? usual : draw.of(node.enum);
  }
  const either = schemasIn(node.anyOf ?? node.oneOf);
  if (either.length > 0) return generatedValue(draw.of(either), name, draw, known);
  switch (node.type) {
    case "string":
      return textOf(node, name, draw, known);
    case "integer":
    case "number":
      return numberOf(node, draw);
    case "boolean":
      return draw.chance(0.5);
    case "null":
      return null;
    case "array":
      return Array.from(
        { length: draw.below(4) },
        () => generatedValue(schemasIn(node.items)[0] ?? {}, name, draw, known),
      );
    default:
      return objectOf(node, draw, known);
  }
}

function objectOf(node: SchemaNode, draw: Draw, known: Known): unknown {
  const properties = Object.entries(
    typeof node.properties === "object" && node.properties !== null ? node.properties : {},
  );
  const required = Array.isArray(node.required) ? node.required : [];
  const entries = properties.flatMap(([key, inner]) => {
    const isLeftOut = draw.chance(required.includes(key) ? 0.03 : 0.5);
    const [schema] = schemasIn(inner);
    if (isLeftOut || schema === undefined) return [];
    return [[key, generatedValue(schema, key, draw, known)] as const];
  });
  if (draw.chance(0.04)) entries.push([draw.of(HOSTILE_TEXTS), draw.of(HOSTILE_VALUES)]);
  return Object.fromEntries(entries);
}

function textOf(node: SchemaNode, name: string, draw: Draw, known: Known): string {
  const told = draw.chance(0.7) ? known.take(name, draw) : null;
  if (told !== null) return told;
  const examples = Array.isArray(node.examples)
    ? node.examples.filter((one) => typeof one === "string")
    : [];
  if (examples.length > 0 && draw.chance(0.7)) return draw.of(examples);
  if (node.format === "date-time") return new Date(draw.below(4_000_000_000_000)).toISOString();
  const { pattern } = node;
  if (typeof pattern !== "string") return draw.of(ORDINARY_TEXTS);
  const fits = new RegExp(pattern, "u");
  const fitting = [...ORDINARY_TEXTS, ...HOSTILE_TEXTS].filter((text) => fits.test(text));
  return fitting.length === 0 ? draw.of(ORDINARY_TEXTS) : draw.of(fitting);
}

function numberOf({ minimum, maximum }: SchemaNode, draw: Draw): number {
  const low = typeof minimum === "number" ? minimum : -10;
  const high = typeof maximum === "number" ? maximum : low + 1_000;
  return draw.of([low, high, low - 1, high + 1, low + draw.below(high - low + 1)]);
}
