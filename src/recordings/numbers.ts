/** NaN for what is no decimal number. */
export function toNumber(cell: string, decimal: '.' | ','): number {
  const text = decimal === ',' ? cell.trim().replace(',', '.') : cell.trim();
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
}
