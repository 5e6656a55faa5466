/** Chunks of a batch: their number of requests, bytes and inputs is limited before they run. */
import { BatchError, readRequestChunks } from '../../../src/batches/request-chunks';
import { Folder } from '../../helpers/files';

const ENDPOINT = '/v1/embeddings';
const LIMITS = { maxRequests: 3, maxBytes: 1000, maxInputs: 8 };

const files = new Folder();
afterAll(() => files.remove());

function line(id: string, body: object): string {
  return `${JSON.stringify({ custom_id: id, method: 'POST', url: ENDPOINT, body })}\n`;
}

/** IDs of each chunk, and its end. */
async function chunksOf(content: string, skipped = 0): Promise<readonly string[]> {
  const file = files.put('requests.jsonl', content);
  const source = { file, endpoint: ENDPOINT, maxLineBytes: 5000, skipped };
  const chunks: string[] = [];
  for await (const { requests, end } of readRequestChunks(source, LIMITS)) {
    chunks.push(`${requests.map(({ customId }) => customId).join(' ')}: ${end}`);
  }
  return chunks;
}

const texts = (count: number): object => ({ input: Array(count).fill('a') });

it.each([
  ['requests', ['a', 'b', 'c', 'd'].map((id) => line(id, { input: id })), ['a b c: 3', 'd: 4']],
  [
    'bytes',
    [line('a', { input: 'x' }), line('b', { input: 'x'.repeat(900) }), line('c', { input: 'x' })],
    ['a: 1', 'b: 2', 'c: 3'],
  ],
  [
    'texts',
    [line('a', texts(5)), line('b', texts(3)), line('c', texts(1)), line('d', texts(50))],
    ['a b: 2', 'c: 3', 'd: 4'],
  ],
  [
    'lists of token IDs',
    [line('a', { input: [[1], [2], [3], [4], [5]] }), line('b', { input: [[1], [2], [3], [4]] })],
    ['a: 1', 'b: 2'],
  ],
  [
    'documents',
    [line('a', { query: 'q', documents: Array(7).fill('d') }), line('b', texts(2))],
    ['a: 1', 'b: 2'],
  ],
])('limits the %s of a chunk', async (_, lines, expected) => {
  expect(await chunksOf(lines.join(''))).toEqual(expected);
});

it('counts a list of token IDs as one text', async () => {
  const body = { input: Array(100).fill(7) };
  expect(await chunksOf(line('a', body) + line('b', body))).toEqual(['a b: 2']);
});

it('continues after skipped requests, and does not count blank lines', async () => {
  const content = ['a', 'b', 'c', 'd', 'e'].map((id) => line(id, {})).join('\n');
  expect(await chunksOf(content, 1)).toEqual(['b c d: 4', 'e: 5']);
  expect(await chunksOf(content, 5)).toEqual([]);
});

it('rejects a line that is not valid any more', async () => {
  const reading = chunksOf(`${line('a', {})}{\n`);
  await expect(reading).rejects.toThrow(BatchError);
  await expect(reading).rejects.toMatchObject({ problem: { code: 'invalid_json_line', line: 2 } });
});
