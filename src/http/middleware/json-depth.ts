/** Far more than any body needs. V8 takes ten times as long for 1 MB of brackets as for one of numbers. */
export const MOST_LEVELS = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPENS_ARRAY, CLOSES_ARRAY, OPENS_OBJECT, CLOSES_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Whether arrays and objects are nested deeper than `MOST_LEVELS`, of JSON or of what pretends to be. */
export function isTooDeep(json: Buffer): boolean {
  if (json.length <= MOST_LEVELS) return false;
  let levels = 0;
  for (let i = 0; i < json.length; i++) {
    switch (json[i]) {
      case OPENS_ARRAY:
      case OPENS_OBJECT:
        if (++levels > MOST_LEVELS) return true;
        break;
      case CLOSES_ARRAY:
      case CLOSES_OBJECT:
        levels--;
        break;
      case QUOTE:
        i = endOfString(json, i);
        if (i < 0) return false;
    }
  }
  return false;
}

/** Where the string that begins at `start` has its closing quote; -1: nowhere. */
function endOfString(json: Buffer, start: number): number {
  for (let end = json.indexOf(QUOTE, start + 1); end >= 0; end = json.indexOf(QUOTE, end + 1)) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}
