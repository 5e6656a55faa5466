import { ERRORS } from '../../src/serving/errors';
import { architectures, FACTS, pages, read } from './facts';
import { filesOfRepository } from './markdown';

/** Cells of the rows of a page's tables. */
function rows(file: string): readonly (readonly string[])[] {
  const lines = read(file)
    .split('\n')
    .filter((line) => line.startsWith('| '));
  return lines.map((line) => line.replaceAll(/^\| | \|$/g, '').split(/ ?\| /));
}

function metricsIn(...files: readonly string[]): readonly string[] {
  return [
    ...new Set(
      files
        .map(read)
        .join('\n')
        .match(/\blibtorch_serve_\w+/g),
    ),
  ];
}

/** The words with any white space between them, and a number in its place. */
function pattern(said: string): RegExp {
  const escaped = said.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s+');
  return new RegExp(`(?<![\\d.,])${escaped.replace('{}', '(\\d(?:[\\d.,]*\\d)?)')}`, 'g');
}

it.each(FACTS)('%s: %s', (said, is) => {
  const numbers = pages.flatMap(({ file, text }) =>
    [...text.matchAll(pattern(said))].map(([, n = '']) => `${file}: ${n.replaceAll(',', '')}`),
  );
  expect(numbers).toEqual(numbers.map((number) => number.replace(/: .*/, `: ${is}`)));
  expect(numbers).not.toEqual([]);
});

it('what the repository may have more of next week is counted nowhere', () => {
  const counted =
    /\b\d[\d,]* (?:settings|routes|metrics|alerts|tests|suites|pages|packages|crates)\b/g;
  const counts = pages.flatMap(({ file, text }) => [file, ...(text.match(counted) ?? [])]);
  expect(counts).toEqual(pages.map(({ file }) => file));
});

/** Sent by services; 408 by Node itself. */
const STATUSES = Object.values(ERRORS)
  .map(({ http }) => http)
  .filter((status) => status !== ERRORS.CANCELLED.http);
const METRICS = filesOfRepository().filter((file) =>
  /^src\/(?!native\/|pages\/).*\.ts$/.test(file),
);
const GRPC = [...read('src/grpc/status.ts').matchAll(/\[status\.(\w+)\]: (\d{3})/g)];

const TABLES: [title: string, said: readonly string[], is: readonly string[]][] = [
  [
    'docs/reference/models.md: model types that our own code runs',
    rows('docs/reference/models.md')
      .filter(([, , , difference = '']) => /^\d\.\de-\d$/.test(difference))
      .flatMap(([names = '']) => names.match(/(?<=`)[\w-]+(?=`)/g) ?? []),
    architectures(),
  ],
  [
    'docs/reference/metrics.md: metrics',
    metricsIn('docs/reference/metrics.md'),
    metricsIn(...METRICS),
  ],
  [
    'docs/reference/http/own.md: statuses of errors',
    rows('docs/reference/http/own.md').flatMap(([status = '']) =>
      /^\d{3}/.test(status) ? status.split(', ') : [],
    ),
    [...new Set([...STATUSES, 408])].map(String),
  ],
  [
    'docs/reference/http/open-inference-grpc.md: statuses of gRPC, and theirs in the log',
    rows('docs/reference/http/open-inference-grpc.md')
      .filter(([, logged = '']) => /^\d{3}$/.test(logged))
      .map(([status, logged]) => `${status} ${logged}`),
    ['INTERNAL 500', ...GRPC.map(([, name, logged]) => `${name} ${logged}`).slice(1)],
  ],
];

it.each(TABLES)('%s are those of the code', (_, said, is) => {
  expect([...said].sort()).toEqual([...is].sort());
});

const BENCHMARK = /npm run bench|(?:node|python)\s+bench\/|bench\/products/;
/** A time, a rate or a size that somebody has measured. */
const MEASURED = /\d ×|\d ms\b|\d\/s\b|\d MB\b/;

it.each(['sentiment', 'eeg'])(
  'docs/explanation/benchmarks.md has bench/results/%s.json',
  (service) => {
    const [ours, fastapi] = JSON.parse(read(`bench/results/${service}.json`)).servers;
    const said = rows('docs/explanation/benchmarks.md')
      .filter(([name = '']) => name.startsWith(`${service},`))
      .map((cells) => [1, 2, 3, 5, 6].map((cell) => Number.parseFloat(cells[cell] ?? '')));
    for (const [i, level] of ours.levels.entries()) {
      const peer = fastapi.levels[i];
      const expected = [level.rps, peer.rps, level.p50_ms, peer.p50_ms].map(({ median }) => median);
      expect(said).toContainEqual([level.clients, ...expected]);
    }
  },
);

/** Names of peers in the documents, by those in bench/results without the suffix of 8 bits. */
const PEERS: Readonly<Record<string, string>> = {
  openvino: 'OpenVINO',
  'node-ort': 'ONNX Runtime',
  fastembed: 'fastembed',
};

it.each(['embedding', 'reranking', 'tagging', 'guard'])(
  'docs/explanation/benchmarks.md has the best peer of bench/results/%s.json',
  (service) => {
    type Level = { clients: number; load: string; rps: { median: number } };
    const { servers, best } = JSON.parse(read(`bench/results/${service}.json`));
    const rateOf = (name: string, { clients, load }: Level): number =>
      servers
        .find(({ server }: { server: string }) => server === name)
        .levels.find((level: Level) => level.clients === clients && level.load === load).rps.median;
    const said = rows('docs/explanation/benchmarks.md');
    for (const level of servers[0].levels as readonly Level[]) {
      const cells = ['', '-int8'].flatMap((suffix) => {
        const cell = `${level.load}, ${level.clients} clients, ${suffix ? 'int8' : 'float32'}`;
        const { rps } = best.find((one: { cell: string }) => one.cell === cell);
        const peer = PEERS[rps.peer.replace('-int8', '')];
        const rate = rateOf(rps.peer, level);
        return [
          rateOf(`libtorch-serve${suffix}`, level),
          `${rate} (${peer})`,
          `**${rps.median} ×**`,
        ];
      });
      const expected = [level.clients, ...cells, rateOf('fastapi', level)].map(String);
      expect(said.map((row) => row.slice(1))).toContainEqual(expected);
    }
  },
);

it('README and the comparison have ratios that were measured', () => {
  const ratio = /\d+\.\d(?=(?: to \d+\.\d)? (?:×|times))/g;
  const ratiosOf = (...files: readonly string[]): readonly string[] =>
    files.flatMap((file) => read(file).match(ratio) ?? []);
  const measured = ratiosOf('docs/explanation/benchmarks.md', 'docs/project/evidence/http.md');
  const said = ratiosOf('README.md', 'docs/explanation/comparison.md');
  expect(said.length).toBeGreaterThan(1);
  expect(said.filter((each) => !measured.includes(each))).toEqual([]);
});

it.each([
  ...['docs/explanation/benchmarks.md', 'docs/explanation/number-formats.md'].map(
    (file): [string, RegExp, RegExp] => [file, /^## /m, BENCHMARK],
  ),
  ['README.md', /\n\n/, /docs\/[\w/-]+\.md/],
])('%s: what was measured stands beside the command, or a link to it', (file, between, command) => {
  const parts = read(file)
    .replaceAll(/^```console.*?^```/gms, '')
    .split(between);
  expect(parts.filter((part) => MEASURED.test(part) && !command.test(part))).toEqual([]);
});
