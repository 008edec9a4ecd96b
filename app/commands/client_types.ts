/**
 * Prints the types of the client: `deno task client-types` makes `client/openapi_types.ts` of
 * `docs/openapi.json`. It knows the part of JSON Schema that our own reference is written in, and
 * refuses anything else, so that no field becomes `unknown` without being noticed.
 *
 * @module
 */

import { z } from "zod";

const Schema = z.record(z.string(), z.unknown());
type Schema = z.infer<typeof Schema>;

const Parameter = z.object({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: Schema,
});

const Content = z.object({ "application/json": z.object({ schema: Schema }).optional() });

const Operation = z.object({
  summary: z.string(),
  parameters: z.array(z.union([z.object({ $ref: z.string() }), Parameter])).optional(),
  requestBody: z.object({ required: z.boolean().optional(), content: Content }).optional(),
  responses: z.record(
    z.string(),
    z.union([z.object({ $ref: z.string() }), z.object({ content: Content.optional() })]),
  ),
});

const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  webhooks: z.record(z.string(), z.object({ post: z.object({ requestBody: z.unknown() }) })),
  components: z.object({
    schemas: z.record(z.string(), Schema),
    parameters: z.record(z.string(), Parameter),
  }),
});
type Document = z.infer<typeof Document>;

const Body = z.object({ content: z.object({ "application/json": z.object({ schema: Schema }) }) });

const HEADER = `// Made of docs/openapi.json by \`deno task client-types\`.

`;

/** The types of a reference as a module of TypeScript. */
export function clientTypes(reference: unknown): string {
  const document = Document.parse(reference);
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) =>
    `${commentOf(schema)}export type ${name} = ${typeOf(schema, "")};\n`
  );
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const answer = answerOf(operation);
      if (answer === null || !path.startsWith("/api/")) return [];
      const key = JSON.stringify(`${method.toUpperCase()} ${path}`);
      const comment = commentOf({ description: operation.summary }, "  ");
      return [`${comment}  ${key}: ${operationOf(operation, answer, document)};\n`];
    })
  );
  const events = Object.entries(document.webhooks).map(([name, { post }]) => {
    const { schema } = Body.parse(post.requestBody).content["application/json"];
    return `  ${JSON.stringify(name)}: ${typeOf(schema, "  ")};\n`;
  });
  return `${HEADER}${schemas.join("\n")}
/** Every request, by method and path. */
export interface Operations {
${operations.join("")}}

/** Bodies of callbacks, by the event's name. */
export interface EventPayloads {
${events.join("")}}
`;
}

/** The successful JSON answer; null where there is none. */
function answerOf({ responses }: z.infer<typeof Operation>): Schema | "nothing" | null {
  for (const [status, response] of Object.entries(responses)) {
    if (!status.startsWith("2") || "$ref" in response) continue;
    if (status === "204") return "nothing";
    const schema = response.content?.["application/json"]?.schema;
    if (schema !== undefined) return schema;
  }
  return null;
}

function operationOf(
  { parameters = [], requestBody }: z.infer<typeof Operation>,
  answer: Schema | "nothing",
  { components }: Document,
): string {
  const all = parameters.map((one) => {
    if (!("$ref" in one)) return one;
    const found = components.parameters[one.$ref.split("/").at(-1) ?? ""];
    if (found === undefined) throw new TypeError(`Cannot find a parameter: ${one.$ref}`);
    return found;
  });
  const fields = (["path", "query", "header"] as const).flatMap((place) => {
    const those = all.filter((one) => one.in === place);
    if (those.length === 0) return [];
    const isNeeded = those.some(({ required }) => required === true);
    const properties = Object.fromEntries(
      those.map(({ name, schema, description }) => [name, { description, ...schema }]),
    );
    const required = those.filter((one) => one.required === true).map(({ name }) => name);
    const type = typeOf({ type: "object", properties, required }, "    ");
    return [`    ${place}${isNeeded ? "" : "?"}: ${type};\n`];
  });
  const body = requestBody?.content["application/json"]?.schema;
  if (body !== undefined) {
    const mark = requestBody?.required === true ? "" : "?";
    fields.push(`    body${mark}: ${typeOf(body, "    ")};\n`);
  }
  const answered = answer === "nothing" ? "undefined" : typeOf(answer, "    ");
  return `{\n${fields.join("")}    answer: ${answered};\n  }`;
}

/** The type of a schema; lines after the first are indented. */
function typeOf(schema: Schema, indent: string): string {
  const { $ref, anyOf, oneOf, enum: values, type } = schema;
  if (typeof $ref === "string") return $ref.split("/").at(-1) ?? "unknown";
  const union = anyOf ?? oneOf;
  if (Array.isArray(union)) {
    return [...new Set(union.map((one) => typeOf(Schema.parse(one), indent)))].join(" | ");
  }
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (Array.isArray(type)) {
    return type.map((one) => typeOf({ ...schema, type: one }, indent)).join(" | ");
  }
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "number":
    case "integer":
      return "number";
    case "array": {
      const item = typeOf(Schema.parse(schema["items"]), indent);
      return /^[\w.]+$/.test(item) ? `${item}[]` : `(${item})[]`;
    }
    case "object":
      return objectOf(schema, indent);
    case undefined: // any JSON
      return "unknown";
    default:
      throw new TypeError(`Cannot type a schema: ${JSON.stringify(schema)}`);
  }
}

function objectOf(schema: Schema, indent: string): string {
  const properties = z.record(z.string(), Schema).parse(schema["properties"] ?? {});
  const required = z.array(z.string()).parse(schema["required"] ?? []);
  const names = Object.keys(properties);
  if (names.length === 0) {
    const rest = Schema.safeParse(schema["additionalProperties"]);
    return `Record<string, ${rest.success ? typeOf(rest.data, indent) : "unknown"}>`;
  }
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, property]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const mark = required.includes(name) ? "" : "?";
    return `${commentOf(property, inner)}${inner}${key}${mark}: ${typeOf(property, inner)};\n`;
  });
  return `{\n${lines.join("")}${indent}}`;
}

function commentOf({ description }: Schema, indent = ""): string {
  return typeof description === "string" ? `${indent}/** ${description} */\n` : "";
}

if (import.meta.main) {
  const path = new URL("../../docs/openapi.json", import.meta.url);
  await Deno.stdout.write(
    new TextEncoder().encode(clientTypes(JSON.parse(await Deno.readTextFile(path)))),
  );
}
