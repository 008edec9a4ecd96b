import { type QrModules, qrModules } from "./qr_modules.ts";

/** Light modules around the code, as the standard asks for (ISO/IEC 18004, 4 modules). */
const QUIET = 4;

/**
 * A QR code as one path of an SVG. The text is the bare address: many wallets do not read payment
 * links.
 */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const modules = qrModules(text);
  const size = modules.size + 2 * QUIET;
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={pathOf(modules)} fill="#000" shape-rendering="crispEdges" />
    </svg>
  );
}

/** Dark modules that touch in a row are drawn as one rectangle. */
function pathOf({ size, dark }: QrModules): string {
  let path = "";
  for (let y = 0; y < size; y++) {
    const row = y * size;
    for (let x = 0; x < size; x++) {
      if (dark[row + x] !== 1) continue;
      const start = x;
      while (x + 1 < size && dark[row + x + 1] === 1) x++;
      path += `M${start + QUIET} ${y + QUIET}h${x - start + 1}v1h${start - x - 1}z`;
    }
  }
  return path;
}
