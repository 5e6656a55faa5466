import type { Draw } from '../draw';

const EXTENSIONS = ['', '', '', ';x', ';x=y', ';x="y;z"'];
const TRAILERS = ['', '', 'X-Trailer: 1\r\n', 'text: y\r\n'];

/**
 * The bytes of a request, its body with a length or in chunks, all of it within what RFC 9112 allows.
 *
 * @param start method and target
 */
export function frame(draw: Draw, start: string, headers: readonly string[], body: Buffer): Buffer {
  const isChunked = draw.chance(0.15);
  const framing = isChunked
    ? draw.pick([
        'Transfer-Encoding: chunked',
        'transfer-encoding: Chunked',
        'TE: x\r\nTransfer-Encoding:chunked',
      ])
    : `${draw.pick(['Content-Length', 'content-length', 'CONTENT-LENGTH'])}: ${'0'.repeat(draw.below(2))}${body.length}`;
  const all = shuffle(draw, ['Host: x', framing, ...headers]);
  const head = Buffer.from(`${start} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`, 'latin1');
  return Buffer.concat([head, isChunked ? chunks(draw, body) : body]);
}

function chunks(draw: Draw, body: Buffer): Buffer {
  const parts: (Buffer | string)[] = [];
  // Not hundreds of thousands of them for the largest bodies.
  const least = Math.ceil(body.length / 200);
  for (let at = 0; at < body.length; ) {
    const chunk = body.subarray(at, at + least + draw.size(2 * least + 100));
    at += chunk.length;
    const size = chunk.length.toString(16);
    const written = draw.chance(0.5) ? size : `00${size.toUpperCase()}`;
    parts.push(`${written}${draw.pick(EXTENSIONS)}\r\n`, chunk, '\r\n');
  }
  parts.push(`0\r\n${draw.pick(TRAILERS)}\r\n`);
  return Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)),
  );
}

function shuffle(draw: Draw, lines: readonly string[]): string[] {
  const rest = [...lines];
  return draw.list(rest.length, () => rest.splice(draw.below(rest.length), 1)[0] as string);
}
