// Numbers as the terminal writes them: three digits and a unit.

export function digits(value: number, count = 3): string {
  if (!Number.isFinite(value)) return '\u2013';
  const size = Math.floor(Math.log10(Math.abs(value) || 1));
  return value.toFixed(Math.max(0, Math.min(6, count - 1 - size)));
}

function scaled(value: number, units: [number, string][]): string {
  const [size, unit] = units.find(([least]) => Math.abs(value) >= least) ?? units[units.length - 1];
  return `${digits(value / size)} ${unit}`;
}

export function seconds(s: number | null | undefined): string {
  if (s === null || s === undefined) return '\u2013';
  if (s >= 172800) return `${digits(s / 86400)} days`;
  if (s >= 3600) return `${Math.floor(s / 3600)} h ${String(Math.floor((s % 3600) / 60)).padStart(2, '0')} min`;
  if (s >= 120) return `${Math.floor(s / 60)} min ${String(Math.floor(s % 60)).padStart(2, '0')} s`;
  if (s === 0) return '0 s';
  return scaled(s, [[1, 's'], [1e-3, 'ms'], [1e-6, '\u00b5s'], [1e-9, 'ns']]);
}

export const bytes = (b: number): string => b === 0 ? '0 B' : scaled(b, [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']]);
/** Sizes of messages are powers of two. */
export const binary = (b: number): string => b === 0 ? '0' : ([[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [1024, 'KiB'], [1, 'B']] as [number, string][])
  .filter(([least]) => b >= least).slice(0, 1).map(([least, unit]) => `${Number((b / least).toPrecision(3))} ${unit}`)[0];
export const percent = (share: number | null | undefined, places = 0): string =>
  share === null || share === undefined ? '\u2013' : `${(100 * share).toFixed(places)} %`;
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;
export const times = (ratio: number | null | undefined): string => ratio === null || ratio === undefined ? '\u2013' : `${digits(ratio)}\u00d7`;
