/**
 * Converts offsets in UTF-16 units to code points, the unit of Python. Ascending offsets take linear time in total;
 * a smaller offset restarts at the beginning of the text.
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

/** Number of code points in a range of UTF-16 units. The range must not split a surrogate pair. */
export function countCodePoints(text: string, start: number, end: number): number {
  let count = 0;
  for (let unit = start; unit < end && unit < text.length; count++) {
    unit += (text.codePointAt(unit) as number) > 0xffff ? 2 : 1;
  }
  return count;
}
