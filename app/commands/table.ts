/** A row of a table, column by column; or a record, field by field. */
export type TableRow = Readonly<Record<string, unknown>>;

/** Rows as aligned text with a heading; `-` where there is nothing to show. */
export function table(rows: readonly TableRow[]): string {
  const [first] = rows;
  if (first === undefined) return "(none)";
  const columns = Object.keys(first);
  const lines = [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))];
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((line) => (line[index] ?? "").length))
  );
  return lines.map((line) =>
    line.map((text, index) => text.padEnd(widths[index] ?? 0)).join("  ").trimEnd()
  ).join("\n");
}

/** One record, a field per line. */
export function record(fields: TableRow): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields).map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`)
    .join("\n");
}

/**
 * Some columns of rows.
 *
 * @param columns separated by spaces: `name`, `name=field`, or `name=one/other` for two fields with a
 *   slash between them
 */
export function select(rows: readonly TableRow[], columns: string): readonly TableRow[] {
  const wanted = columns.split(" ").map((column) => {
    const [name = "", field = name] = column.split("=");
    return { name, fields: field.split("/") };
  });
  return rows.map((row) =>
    Object.fromEntries(wanted.map(({ name, fields }) => [
      name,
      fields.length === 1 ? row[fields[0] ?? ""] : fields.map((field) => row[field]).join("/"),
    ]))
  );
}

/** Controls, and what turns or breaks lines: merchants choose texts that operators look at. */
const CONTROLS = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

function cell(value: unknown): string {
  return plain(value).replace(CONTROLS, "\ufffd");
}

function plain(value: unknown): string {
  if (value === null || value === undefined || value === "") return "-";
  if (Array.isArray(value)) return value.map(cell).join(",") || "-";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
