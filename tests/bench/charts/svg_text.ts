/** Text inside an SVG file. */
export function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** A coordinate: a tenth of a pixel is enough, and shorter to read. */
export function place(value: number): string {
  return String(Number(value.toFixed(1)));
}
