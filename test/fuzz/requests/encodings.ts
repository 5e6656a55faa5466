import zlib from 'node:zlib';
import type { Draw } from '../draw';
import type { Expected } from './oracle';

/** A body as Content-Encoding has it. */
export interface Encoded {
  /** Kind, for the report. */
  readonly what: string;
  /** Of the request; null: it has none. */
  readonly header: string | null;
  readonly bytes: Buffer;
  /** What comes of it. Null where `expected` is what the service must answer whatever was encoded. */
  readonly decoded: Buffer | null;
  readonly expected: Expected | null;
}

interface Coding {
  readonly name: string;
  readonly pack: (bytes: Buffer) => Buffer;
  readonly unpack: (bytes: Buffer, limit: number) => Buffer;
}

const CODINGS: readonly Coding[] = [
  {
    name: 'gzip',
    pack: (bytes) => zlib.gzipSync(bytes, { level: 1 }),
    unpack: (bytes, limit) => zlib.gunzipSync(bytes, { maxOutputLength: limit }),
  },
  {
    name: 'deflate',
    pack: (bytes) => zlib.deflateSync(bytes, { level: 1 }),
    unpack: (bytes, limit) => zlib.inflateSync(bytes, { maxOutputLength: limit }),
  },
  {
    name: 'br',
    pack: (bytes) =>
      zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
    unpack: (bytes, limit) => zlib.brotliDecompressSync(bytes, { maxOutputLength: limit }),
  },
];
const UNKNOWN = ['x-gzip', 'x-zstd', 'compress', 'gzip, gzip', 'gzip, br', '*', 'gzip;q=1', 'none'];

const UNSUPPORTED: Expected = {
  status: 415,
  detail: /^The Content-Encoding must be gzip, deflate, br, zstd or identity\.$/,
};
const TOO_LARGE: Expected = {
  status: 413,
  detail: /^The body exceeds the limit of \d+ bytes\.$/,
};
const UNREADABLE: Expected = {
  status: 422,
  detail: /^body: cannot be decoded with its Content-Encoding$/,
};

/** Bodies of 16 MB, whatever is left of it: 16 kB of gzip, some bytes of brotli. */
const BOMB_BYTES = 16 * 1024 ** 2;
const bombs = new Map<string, Buffer>();

export function encode(draw: Draw, body: Buffer, limit: number): Encoded {
  const coding = draw.pick(CODINGS);
  return draw.weighted<() => Encoded>([
    [6, () => packed(coding, body, draw)],
    [2, () => damaged(coding, body, draw, limit)],
    [1, () => unknown(body, draw)],
    [1, () => identity(body, draw)],
    [0.1, () => bomb(coding)],
    [1, () => mislabelled(coding, body)],
  ])();
}

function packed(coding: Coding, body: Buffer, draw: Draw): Encoded {
  const header = draw.chance(0.8) ? coding.name : coding.name.toUpperCase();
  const bytes = coding.pack(body);
  return { what: 'compressed', header, bytes, decoded: body, expected: null };
}

/** Cut off, or with bytes changed; a second opinion is what Node's zlib makes of all of it at once. */
function damaged(coding: Coding, body: Buffer, draw: Draw, limit: number): Encoded {
  let bytes = Buffer.from(coding.pack(body));
  if (draw.chance(0.5)) bytes = bytes.subarray(0, draw.below(bytes.length));
  else bytes[draw.below(bytes.length)] = draw.below(256);
  const what = 'compressed, and damaged';
  if (bytes.length === 0) return nothing(coding, what);
  try {
    const decoded = coding.unpack(bytes, limit + 1);
    return { what, header: coding.name, bytes, decoded, expected: null };
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const expected = isTooLarge ? TOO_LARGE : UNREADABLE;
    return { what, header: coding.name, bytes, decoded: null, expected };
  }
}

/** Not a byte: whether that is no body, or one that is cut off, depends on its framing. */
function nothing({ name }: Coding, what: string): Encoded {
  const expected = {
    status: 422,
    detail: /^body: (is required|cannot be decoded with its Content-Encoding)$/,
  };
  return { what, header: name, bytes: Buffer.alloc(0), decoded: null, expected };
}

function unknown(body: Buffer, draw: Draw): Encoded {
  const header = draw.pick(UNKNOWN);
  return { what: 'encoding unknown', header, bytes: body, decoded: null, expected: UNSUPPORTED };
}

function identity(body: Buffer, draw: Draw): Encoded {
  const header = draw.pick(['identity', 'Identity', '']);
  return { what: 'identity', header, bytes: body, decoded: body, expected: null };
}

function bomb(coding: Coding): Encoded {
  let bytes = bombs.get(coding.name);
  if (!bytes) {
    bytes = coding.pack(Buffer.alloc(BOMB_BYTES, 0x20));
    bombs.set(coding.name, bytes);
  }
  return { what: 'a bomb', header: coding.name, bytes, decoded: null, expected: TOO_LARGE };
}

/** Not compressed, and said to be. */
function mislabelled(coding: Coding, body: Buffer): Encoded {
  const what = 'not compressed';
  if (body.length === 0) return nothing(coding, what);
  try {
    const decoded = coding.unpack(body, 1024 ** 2 + 1);
    return { what, header: coding.name, bytes: body, decoded, expected: null };
  } catch {
    return { what, header: coding.name, bytes: body, decoded: null, expected: UNREADABLE };
  }
}
