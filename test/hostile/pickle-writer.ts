// Pickles of state_dicts, the archives they lie in, and the format of before PyTorch 1.6.

/** A tensor over the storage of a key. */
export interface TensorEntry {
  readonly name: string;
  readonly storage: string;
  readonly elements: number;
  readonly sizes: readonly number[];
  readonly strides: readonly number[];
  readonly offset?: number;
  readonly type?: string;
}

function integer(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return Buffer.concat([Buffer.from([0x8a, 8]), bytes]); // LONG1
}

export function text(value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(Buffer.byteLength(value));
  return Buffer.concat([Buffer.from('X'), length, Buffer.from(value)]);
}

export const global = (module: string, name: string): Buffer =>
  Buffer.from(`c${module}\n${name}\n`);
const op = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part)));
const tuple = (...items: readonly Buffer[]): Buffer => op('(', ...items, 't');

export function tensor(entry: TensorEntry): Buffer {
  const { storage, elements, sizes, strides, offset = 0, type = 'FloatStorage' } = entry;
  const id = op(
    tuple(text('storage'), global('torch', type), text(storage), text('cpu'), integer(elements)),
    'Q',
  );
  const size = tuple(...sizes.map(integer));
  const stride = tuple(...strides.map(integer));
  const hooks = op(global('collections', 'OrderedDict'), ')R');
  const arguments_ = tuple(id, integer(offset), size, stride, Buffer.from([0x89]), hooks);
  return op(global('torch._utils', '_rebuild_tensor_v2'), arguments_, 'R');
}

/** {name: tensor, …}, as a pickle of protocol 2. */
export function pickleOf(entries: readonly (readonly [string, Buffer])[]): Buffer {
  const items = entries.flatMap(([name, value]) => [text(name), value]);
  return op(Buffer.from([0x80, 2]), '}(', ...items, 'u.');
}

export const pickled = (entries: readonly TensorEntry[]): Buffer =>
  pickleOf(entries.map((entry) => [entry.name, tensor(entry)]));

const TABLE = Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let i = 0; i < 8; i++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function crc32(bytes: Buffer): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = (TABLE[(value ^ byte) & 0xff] as number) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

export interface ZipEntry {
  readonly name: string;
  readonly content: Buffer;
  /** What the directory claims, where that is not so. */
  readonly claims?: { readonly size?: number; readonly offset?: number; readonly method?: number };
}

/** An archive without compression, as torch.save writes it. */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content, claims = {} } of entries) {
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(claims.method ?? 0, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(claims.size ?? content.length, 14);
    common.writeUInt32LE(claims.size ?? content.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const file = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), content]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(claims.offset ?? at, 10);
    directory.push(
      Buffer.concat([
        Buffer.from('PK\x01\x02'),
        Buffer.from([20, 0]),
        common,
        rest,
        Buffer.from(name),
      ]),
    );
    files.push(file);
    at += file.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...files, central, end]);
}

/** What torch.save writes: the pickle, and a record for each storage. */
export function archive(pickle: Buffer, storages: Readonly<Record<string, Buffer>>): Buffer {
  return zip([
    { name: 'archive/data.pkl', content: pickle },
    { name: 'archive/byteorder', content: Buffer.from('little') },
    ...Object.entries(storages).map(([key, content]) => ({ name: `archive/data/${key}`, content })),
    { name: 'archive/version', content: Buffer.from('3\n') },
  ]);
}

/** The format of before PyTorch 1.6. `lengths`: what each storage says of itself, in elements. */
export function legacy(
  pickle: Buffer,
  storages: Readonly<Record<string, Buffer>>,
  lengths: Readonly<Record<string, bigint>> = {},
): Buffer {
  const magic = Buffer.from('80028a0a6cfc9c46f9206aa850192e', 'hex');
  const protocol = op(Buffer.from([0x80, 2]), 'M', Buffer.from([0xe9, 3]), '.');
  const machine = op(
    Buffer.from([0x80, 2]),
    '}(',
    text('little_endian'),
    Buffer.from([0x88]),
    'u.',
  );
  const keys = op(Buffer.from([0x80, 2]), '](', ...Object.keys(storages).map(text), 'e.');
  const contents = Object.entries(storages).map(([key, content]) => {
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(lengths[key] ?? BigInt(content.length / 4));
    return Buffer.concat([length, content]);
  });
  return Buffer.concat([magic, protocol, machine, pickle, keys, ...contents]);
}
