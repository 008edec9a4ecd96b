import { encode } from "uqr";

/** Light modules around the code, as the standard asks for (ISO/IEC 18004, 4 modules). */
const QUIET = 4;

/**
 * A QR code as one path of an SVG. The text is the bare address: many wallets do not read payment
 * links.
 */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { data, size } = encode(text, { ecc: "M", border: QUIET });
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={pathOf(data)} fill="#000" shape-rendering="crispEdges" />
    </svg>
  );
}

/** Dark modules that touch in a row are drawn as one rectangle. */
function pathOf(rows: readonly (readonly boolean[])[]): string {
  let path = "";
  rows.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      if (row[x] !== true) continue;
      const start = x;
      while (row[x + 1] === true) x++;
      path += `M${start} ${y}h${x - start + 1}v1h${start - x - 1}z`;
    }
  });
  return path;
}
