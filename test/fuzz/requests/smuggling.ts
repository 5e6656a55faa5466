/** How a service must take bytes in which a second request is hidden. */
type Outcome =
  /** 400, or none where there is nobody to tell, and the connection is closed. */
  | 'refused'
  /** One answer: what is hidden belongs to the body, or is thrown away. */
  | 'one'
  /** Nobody hides anything: it is a request of its own. */
  | 'two';

export interface Attack {
  readonly name: string;
  readonly bytes: Buffer;
  readonly outcome: Outcome;
}

/** Ids of the two requests. */
export interface Ids {
  readonly outer: string;
  readonly hidden: string;
}

/** The request that is hidden: it must never be answered, nor run. */
function hiddenRequest({ hidden }: Ids): string {
  const body = '{"text":"hidden"}';
  return `POST /analyze HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${hidden}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const OBFUSCATED: readonly string[] = [
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: x',
  'Transfer-Encoding: chunkedx',
  'Transfer-Encoding : chunked',
  ' Transfer-Encoding: chunked',
  '\tTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: x',
  'Transfer-Encoding: chunked, identity',
  'X: x\nTransfer-Encoding: chunked',
  'X: x\rTransfer-Encoding: chunked',
  'Transfer-Encoding\r\n: chunked',
  'Transfer-Encoding:\r\n chunked',
  'Transfer-Encoding: "chunked"',
  'Transfer-Encoding: chunked\x0b',
  'Transfer-Encoding: \x0cchunked',
  'Transfer-Encoding: chunked\0',
  'Transfer-Encoding: chunked;x',
  'Transfer-Encoding: ,chunked',
  'Transfer-Encoding:',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: identity, chunked',
  'TRANSFER-ENCODING: Chunked',
  'Transfer\0-Encoding: chunked',
  'Transfer-Encoding\x20\x20: chunked',
  'Transfer-Encoding;: chunked',
];

/** LENGTH is that of what is hidden. */
const LENGTHS: readonly string[] = [
  'Content-Length: 0\r\nContent-Length: LENGTH',
  'Content-Length: LENGTH\r\nContent-Length: 0',
  'Content-Length: LENGTH\r\nContent-Length: LENGTH',
  'Content-Length: LENGTH, LENGTH',
  'Content-Length: +LENGTH',
  'Content-Length: -LENGTH',
  'Content-Length: LENGTH LENGTH',
  'Content-Length: 0xff',
  'Content-Length: LENGTH;',
  'Content-Length: LENGTH.0',
  'Content-Length: 1e2',
  'Content-Length : LENGTH',
  'Content-Length:\r\n LENGTH',
  ' Content-Length: LENGTH',
  'Content-Length: \x0bLENGTH',
  'Content-Length: LENGTH\0',
  'Content-Length: "LENGTH"',
  'Content-Length: 99999999999999999999',
  'Content-Length: 18446744073709551616',
  'Content-Length:',
  'Content-Length: LENGTH\rX: x',
  'Content-Length: 0\nContent-Length: LENGTH',
  'Content\0-Length: 5',
];

/** HIDDEN stands for the request in a chunk's place, SIZE for its length in hexadecimal. */
const CHUNKS: readonly string[] = [
  '0xSIZE\r\nHIDDEN\r\n0\r\n\r\n',
  '+SIZE\r\nHIDDEN\r\n0\r\n\r\n',
  '-SIZE\r\nHIDDEN\r\n0\r\n\r\n',
  'SIZE \r\nHIDDEN\r\n0\r\n\r\n',
  ' SIZE\r\nHIDDEN\r\n0\r\n\r\n',
  'SIZE\nHIDDEN\r\n0\r\n\r\n',
  'SIZE;\nx\r\nHIDDEN\r\n0\r\n\r\n',
  'SIZE;x\nHIDDEN\r\n0\r\n\r\n',
  'SIZE;x=\r\rHIDDEN\r\n0\r\n\r\n',
  'SIZE\r\rHIDDEN\r\n0\r\n\r\n',
  '1_0\r\nHIDDEN\r\n0\r\n\r\n',
  'fffffffffffffffff\r\nHIDDEN\r\n0\r\n\r\n',
  '10000000000000000\r\nHIDDEN\r\n0\r\n\r\n',
  ';x\r\nHIDDEN\r\n0\r\n\r\n',
  '\r\nHIDDEN\r\n0\r\n\r\n',
  '1\r\nxxHIDDEN\r\n0\r\n\r\n',
  '1\r\nx\nHIDDEN',
  '1\r\nx\rHIDDEN',
  '1\r\nxHIDDEN',
  'g\r\nHIDDEN',
  '0\r\nX\r\n\r\nHIDDEN',
  '0\r\n X: x\r\n\r\nHIDDEN',
  '0\r\nX : x\r\n\r\nHIDDEN',
  '0\r\nX: \0\r\n\r\nHIDDEN',
];

/** Heads that are none; HIDDEN follows. */
const HEADS: readonly string[] = [
  'GET /health HTTP/1.1\r\nHost: x\r\nX: \0\r\n\r\n',
  'GET /health HTTP/1.1\r\nHost: x\r\n\0: x\r\n\r\n',
  'GET /health HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n',
  'GET /health HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n',
  'GET /health HTTP/1.1\r\nHost: x\r\nX y: x\r\n\r\n',
  'GET /health HTTP/1.1\r\nHost: x\r\nX\r\n\r\n',
  'GET /health HTTP/1.1\r\nHost: x\r\n(X): x\r\n\r\n',
  'GET /health HTTP/1.1\r\n Host: x\r\n\r\n',
  'GET /health HTTP/01.1\r\nHost: x\r\n\r\n',
  'GET /health HTTP/1.1x\r\nHost: x\r\n\r\n',
  '\0GET / HTTP/1.1\r\n\r\n',
  'GET /hea lth HTTP/1.1\r\nHost: x\r\n\r\n',
  'get /health HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /\0health HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET\t/health\tHTTP/1.1\r\nHost: x\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'HTTP/1.1 200 OK\r\n\r\n',
  `GET /health HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`,
  `${'G'.repeat(20_000)} / HTTP/1.1\r\n\r\n`,
  `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET / HTTP/1.1\r\n${'X-Flood: x\r\n'.repeat(4000)}\r\n`,
];

export function attacks(ids: Ids): readonly Attack[] {
  const hidden = hiddenRequest(ids);
  const post = `POST /analyze HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${ids.outer}\r\n`;
  const size = hidden.length.toString(16);
  const attack = (name: string, text: string, outcome: Outcome): Attack => ({
    name,
    bytes: Buffer.from(text, 'latin1'),
    outcome,
  });
  const chunked = 'Transfer-Encoding: chunked';
  const lengthOf = (text: string) => `Content-Length: ${text.length}`;
  const inLastChunk = `0\r\n\r\n${hidden}`;
  const inChunk = `${size}\r\n${hidden}\r\n0\r\n\r\n`;
  return [
    attack(
      'CL.TE',
      `${post}${lengthOf(inLastChunk)}\r\n${chunked}\r\n\r\n${inLastChunk}`,
      'refused',
    ),
    attack('TE.CL', `${post}${chunked}\r\nContent-Length: 4\r\n\r\n${inChunk}`, 'refused'),
    attack('TE.0', `${post}${chunked}\r\nContent-Length: 0\r\n\r\n${inChunk}`, 'refused'),
    ...OBFUSCATED.map((line) => {
      const isChunked = /^transfer-encoding: (?:identity, )?chunked$/i.test(line);
      const framed = isChunked ? '' : `${lengthOf(inLastChunk)}\r\n`;
      // One that is well-formed ends with its last chunk: what follows is nobody's body.
      const outcome = isChunked ? 'two' : 'refused';
      return attack(line, `${post}${framed}${line}\r\n\r\n${inLastChunk}`, outcome);
    }),
    ...LENGTHS.map((line) =>
      attack(
        line,
        `${post}${line.replaceAll('LENGTH', String(hidden.length))}\r\n\r\n${hidden}`,
        'refused',
      ),
    ),
    ...CHUNKS.map((body) => {
      const text = body.replace('SIZE', size).replace('HIDDEN', hidden);
      return attack(`chunks ${body}`, `${post}${chunked}\r\n\r\n${text}`, 'refused');
    }),
    ...HEADS.map((head) => attack(head.slice(0, 70), head + hidden, 'refused')),
    attack(
      'a body of a GET',
      `GET /health HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${ids.outer}\r\n${lengthOf(hidden)}\r\n\r\n${hidden}`,
      'one',
    ),
    attack(
      'a body of a HEAD',
      `HEAD /health HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${ids.outer}\r\n${lengthOf(hidden)}\r\n\r\n${hidden}`,
      'one',
    ),
    attack(
      'a body behind Expect',
      `${post}Expect: 100-continue\r\n${lengthOf(hidden)}\r\n\r\n${hidden}`,
      'one',
    ),
    attack(
      'a body of an unknown type',
      `${post}Content-Type: x\r\n${lengthOf(hidden)}\r\n\r\n${hidden}`,
      'one',
    ),
    attack('a body in chunks', `${post}${chunked}\r\n\r\n${inChunk}`, 'one'),
    attack(
      'chunks of HTTP/1.0',
      `${post.replace('1.1', '1.0')}${chunked}\r\n\r\n${inLastChunk}`,
      'refused',
    ),
    attack('HTTP/2.0', `GET /health HTTP/2.0\r\nHost: x\r\n\r\n${hidden}`, 'one'),
    attack('no version', `GET /health\r\nHost: x\r\n\r\n${hidden}`, 'one'),
    attack('two spaces', `GET  /health HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`, 'two'),
    attack(
      'an upgrade',
      `GET /health HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${ids.outer}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n${hidden}`,
      'one',
    ),
    attack('CONNECT', `CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`, 'refused'),
    attack('a length too short', `${post}Content-Length: 0\r\n\r\n${hidden}`, 'two'),
    attack('white space between two', `${post}Content-Length: 0\r\n\r\n\r\n\r\n${hidden}`, 'two'),
  ];
}
