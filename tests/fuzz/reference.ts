/**
 * The API reference as the generator reads it.
 *
 * @module
 */

import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { z } from "zod";
import { openApiDocument } from "../../api/openapi/document.ts";
import { OPERATIONS } from "../../api/routes.ts";
import { resolvedReference } from "../support/resolved_reference.ts";

const SchemaNode = z.record(z.string(), z.unknown());

/** A JSON Schema. */
export type SchemaNode = z.infer<typeof SchemaNode>;

const Parameter = z.object({
  name: z.string(),
  in: z.enum(["query", "path", "header", "cookie"]),
  required: z.boolean().optional(),
  schema: SchemaNode,
});

const Document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        parameters: z.array(Parameter).optional(),
        requestBody: z.object({
          content: z.object({ "application/json": z.object({ schema: SchemaNode }) }),
        }).optional(),
      }),
    ),
  ),
  components: z.object({ schemas: z.record(z.string(), SchemaNode) }),
});

const document = Document.parse(resolvedReference(openApiDocument(OPERATIONS)));
const ajv = new Ajv2020({ strict: false, unicodeRegExp: true });
addFormats.default(ajv);

/** An endpoint. */
export interface Operation {
  readonly method: string;
  readonly template: string;
  readonly parameters: readonly z.infer<typeof Parameter>[];
  readonly body: SchemaNode | null;
  /** True when the reference allows this body. */
  readonly allows: (body: unknown) => boolean;
}

/** Every endpoint of the reference. */
export const REFERENCE: readonly Operation[] = Object.entries(document.paths).flatMap((
  [template, operations],
) =>
  Object.entries(operations).map(([method, { parameters = [], requestBody }]) => {
    const body = requestBody?.content["application/json"].schema ?? null;
    const validate = body === null
      ? null
      : ajv.compile({ ...body, components: document.components });
    return {
      method: method.toUpperCase(),
      template,
      parameters,
      body,
      allows: (value: unknown) => validate === null || validate(value) === true,
    };
  })
);

/** The schema itself, or the one that it names. */
export function resolved(schema: SchemaNode): SchemaNode {
  const { $ref } = schema;
  if (typeof $ref !== "string") return schema;
  const name = $ref.slice($ref.lastIndexOf("/") + 1);
  const named = document.components.schemas[name];
  if (named === undefined) throw new TypeError(`Cannot find a schema of the reference: ${$ref}`);
  return resolved(named);
}

/** The schemas in a field of a schema, as in `anyOf` or `items`. */
export function schemasIn(value: unknown): readonly SchemaNode[] {
  const list = SchemaNode.array().safeParse(value);
  if (list.success) return list.data;
  const one = SchemaNode.safeParse(value);
  return one.success ? [one.data] : [];
}
