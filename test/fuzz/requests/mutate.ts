import type { Draw } from '../draw';

/** Pieces that mean something to an HTTP parser. */
const PIECES: readonly Buffer[] = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  ';',
  '0',
  '1',
  'ff',
  '\r\n\r\n',
  '0\r\n\r\n',
  'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  'Connection: Content-Length\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: x\r\nConnection: upgrade\r\n',
  'GET /health HTTP/1.1\r\nHost: x\r\n\r\n',
  ' HTTP/1.0\r\n',
  '\x80',
  '\xff',
].map((piece) => Buffer.from(piece, 'latin1'));

/** Some bytes taken away, put in, doubled or changed. */
export function mutate(draw: Draw, bytes: Buffer): Buffer {
  let changed = bytes;
  for (let edits = draw.size(6); edits > 0; edits--) {
    const at = draw.below(changed.length + 1);
    const length = draw.size(20);
    const [before, after] = [changed.subarray(0, at), changed.subarray(at)];
    changed = draw.weighted<() => Buffer>([
      [4, () => Buffer.concat([before, draw.pick(PIECES), after])],
      [2, () => Buffer.concat([before, after.subarray(length)])],
      [1, () => Buffer.concat([before, after.subarray(0, length), after])],
      [2, () => Buffer.concat([before, Buffer.from([draw.below(256)]), after.subarray(1)])],
    ])();
  }
  return changed;
}
