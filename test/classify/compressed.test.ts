import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expandInputs } from '../../src/files/input-files';
import { readBlocks } from '../../src/files/readers/input-bytes';
import { FIXTURES } from '../helpers/service';
import { temporaryFolder } from './command';

const folder = temporaryFolder();
afterAll(folder.remove);

const LINES = readFileSync(path.join(FIXTURES, 'files', 'right.csv'));
const fixture = (name: string) => readFileSync(path.join(FIXTURES, 'files', name));
/** As zstd and pzstd write them: of any length, and without content. */
const SKIPPABLE = Buffer.concat([
  Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 5, 0, 0, 0]),
  Buffer.from('hello'),
]);

let files = 0;
/** What is read of a file with these bytes. */
async function contentOf(bytes: Buffer, name: string): Promise<Buffer> {
  const file = path.join(folder.path, `${files++}-${name}`);
  writeFileSync(file, bytes);
  const blocks: Buffer[] = [];
  for (const input of await expandInputs([file])) {
    for await (const block of readBlocks(input)) blocks.push(Buffer.from(block.bytes));
  }
  return Buffer.concat(blocks);
}

const compressors = {
  gzip: { name: 'x.csv.gz', of: (bytes: Buffer) => Promise.resolve(gzipSync(bytes)) },
  zstd: { name: 'x.csv.zst', of: (bytes: Buffer) => withChecksum(bytes) },
};

/** A frame of one raw block: xxHash64 of what it holds is what the command writes behind it. */
async function withChecksum(bytes: Buffer): Promise<Buffer> {
  const { default: xxhash } = await import('xxhash-wasm');
  const { h64Raw } = await xxhash();
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  const block = Buffer.alloc(3);
  block.writeUIntLE((bytes.length << 3) | 1, 0, 3);
  const checksum = Buffer.alloc(8);
  checksum.writeBigUInt64LE(h64Raw(bytes));
  const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa4]);
  return Buffer.concat([magic, size, block, bytes, checksum.subarray(0, 4)]);
}

it('reads what zstd compressed, and rejects it with one bit changed', async () => {
  expect(await contentOf(fixture('skippable-first.csv.zst'), 'x.zst')).toEqual(LINES);
  await expect(contentOf(fixture('one-bit.csv.zst'), 'x.zst')).rejects.toThrow(
    /x\.zst: read failed: .*checksum/,
  );
});

describe.each(Object.entries(compressors))('%s', (_name, { name, of }) => {
  it('reads several one after the other', async () => {
    const parts = await Promise.all(['a,b\n', '', 'c,d\n'].map((text) => of(Buffer.from(text))));
    expect(String(await contentOf(Buffer.concat(parts), name))).toBe('a,b\nc,d\n');
  });

  it('gives the same content or an error, whichever bit is changed', async () => {
    const content = Buffer.from('text\na film\n');
    const whole = Buffer.concat([await of(content), await of(content)]);
    const twice = Buffer.concat([content, content]);
    let errors = 0;
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const changed = Buffer.from(whole);
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
      // Times and names in the headers are not part of the content.
      const read = await contentOf(changed, name).catch(() => null);
      if (read === null) errors++;
      else expect([bit, String(read)]).toEqual([bit, String(twice)]);
    }
    expect(errors).toBeGreaterThan(content.length * 16);
  });

  it('rejects a file that is cut off anywhere', async () => {
    const whole = await of(Buffer.from('text\na film\n'));
    for (let end = 0; end < whole.length; end++) {
      await expect(contentOf(whole.subarray(0, end), name)).rejects.toThrow('read failed');
    }
  });

  it('rejects other bytes behind the end', async () => {
    const whole = await of(Buffer.from('text\na film\n'));
    for (const more of ['garbage', '\0\0\0garbage', 'g']) {
      const bytes = Buffer.concat([whole, Buffer.from(more)]);
      await expect(contentOf(bytes, name)).rejects.toThrow('read failed');
    }
  });
});

describe('zstd', () => {
  it('passes over skippable frames wherever they stand', async () => {
    const first = await withChecksum(Buffer.from('a\n'));
    const second = await withChecksum(Buffer.from('b\n'));
    const whole = [SKIPPABLE, first, SKIPPABLE, SKIPPABLE, second, SKIPPABLE];
    expect(String(await contentOf(Buffer.concat(whole), 'x'))).toBe('a\nb\n');
  });

  it('refuses a window larger than 128 MiB before it takes memory', async () => {
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa0, 0x01, 0x00, 0x00]);
    await expect(contentOf(frame, 'x.zst')).rejects.toThrow(/window .*128 MiB/);
  });

  it('refuses a frame that needs a dictionary', async () => {
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x01, 0x00, 0x07, 0x01, 0x00, 0x00]);
    await expect(contentOf(frame, 'x.zst')).rejects.toThrow(/dictionar/);
  });
});
