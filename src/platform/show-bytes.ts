const [MEBIBYTE, GIBIBYTE] = [2 ** 20, 2 ** 30];

/** @returns a number of bytes as messages show it; from 1 MiB on also rounded, as in `209715200 bytes (200 MiB)`. */
export function showBytes(bytes: number): string {
  if (bytes < MEBIBYTE) return `${bytes} bytes`;
  const rounded = bytes < GIBIBYTE ? `${toTenth(bytes / MEBIBYTE)} MiB` : `${toTenth(bytes / GIBIBYTE)} GiB`;
  return `${bytes} bytes (${rounded})`;
}

function toTenth(value: number): number {
  return Math.round(10 * value) / 10;
}
