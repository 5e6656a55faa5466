/**
 * From UTF-16 units of a text to code points, as Python counts. To be asked in the order of the text:
 * what lies before the place that was asked for last is counted again.
 */
export function codePointCounter(text: string): (unit: number) => number {
  let unit = 0;
  let points = 0;
  return (wanted) => {
    if (wanted < unit) [unit, points] = [0, 0];
    while (unit < wanted && unit < text.length) {
      unit += (text.codePointAt(unit) as number) > 0xffff ? 2 : 1;
      points++;
    }
    return points;
  };
}

/** Of a part of a text that neither begins nor ends within a character. */
export function countCodePoints(text: string, start: number, end: number): number {
  let count = 0;
  for (let unit = start; unit < end && unit < text.length; count++) {
    unit += (text.codePointAt(unit) as number) > 0xffff ? 2 : 1;
  }
  return count;
}
