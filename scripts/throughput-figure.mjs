/**
 * Draws docs/assets/throughput.svg from bench/results: requests per second by task and server, one panel per task.
 *
 *   node scripts/throughput-figure.mjs           writes the file
 *   node scripts/throughput-figure.mjs --check   exits with 1 if the file is out of date
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const OUTPUT = path.join(ROOT, 'docs/assets/throughput.svg');

/** Panels: file in bench/results, title, and the index of the level (number of clients) that is drawn. */
const PANELS = [
  { file: 'sentiment', title: 'Text classification, 22.7 M parameters, 64 clients', level: 2 },
  { file: 'embedding', title: 'Embeddings, all-MiniLM-L6-v2, 64 clients', level: 2 },
  { file: 'tagging', title: 'Token classification, BERT base, 128 tokens, 8 clients', level: 1 },
  { file: 'reranking', title: 'Reranking, 100 documents per request, 4 clients', level: 1 },
];

/** Servers in the order of the figure, with their labels. Others are left out. */
const SERVERS = {
  'libtorch-serve-int8': 'libtorch-serve, int8',
  'libtorch-serve': 'libtorch-serve, float32',
  'openvino-int8': 'OpenVINO, int8',
  openvino: 'OpenVINO, float32',
  'node-ort-int8': 'ONNX Runtime, int8',
  'node-ort': 'ONNX Runtime, float32',
  fastembed: 'fastembed, float32',
  fastapi: 'FastAPI, float32',
};

const WIDTH = 860;
const LABEL_WIDTH = 190;
const VALUE_WIDTH = 70;
const BAR = 16;
const ROW = 22;
const TITLE = 34;
const GAP = 20;

/** Rows of a panel: label, requests/s, and whether the server is this one. */
function rowsOf({ file, level }) {
  const results = JSON.parse(
    readFileSync(path.join(ROOT, 'bench/results', `${file}.json`), 'utf8'),
  );
  return Object.entries(SERVERS).flatMap(([name, label]) => {
    const server = results.servers.find((one) => one.name === name || one.server === name);
    const value = server?.levels[level]?.rps.median;
    return value === undefined ? [] : [{ label, value, isOwn: name.startsWith('libtorch-serve') }];
  });
}

function panel({ title, ...options }, top) {
  const rows = rowsOf(options);
  const largest = Math.max(...rows.map(({ value }) => value));
  const scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / largest;
  const bars = rows.map(({ label, value, isOwn }, index) => {
    const y = top + TITLE + index * ROW;
    const width = Math.max(1, Math.round(value * scale));
    const middle = y + BAR / 2 + 4;
    return [
      `<text class="label" x="${LABEL_WIDTH - 10}" y="${middle}" text-anchor="end">${label}</text>`,
      `<rect class="${isOwn ? 'own' : 'peer'}" x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR}" rx="2"/>`,
      `<text class="value" x="${LABEL_WIDTH + width + 6}" y="${middle}">${format(value)}</text>`,
    ].join('\n');
  });
  const heading = `<text class="title" x="${LABEL_WIDTH}" y="${top + 20}">${title}</text>`;
  return { svg: [heading, ...bars].join('\n'), height: TITLE + rows.length * ROW + GAP };
}

function format(value) {
  return value >= 100 ? String(Math.round(value)) : String(value);
}

function figure() {
  let top = 44;
  const parts = [];
  for (const options of PANELS) {
    const { svg, height } = panel(options, top);
    parts.push(svg);
    top += height;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}" role="img" aria-labelledby="title">
<title id="title">Requests per second by task and server, two CPU cores</title>
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.head { font-size: 16px; font-weight: 600; }
.title { font-weight: 600; }
.value { font-variant-numeric: tabular-nums; }
.own { fill: #2f6feb; }
.peer { fill: #9aa4b2; }
rect.background { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.own { fill: #6ea8fe; }
.peer { fill: #6e7681; }
rect.background { fill: #0d1117; }
}
</style>
<rect class="background" width="${WIDTH}" height="${top}" rx="6"/>
<text class="head" x="${LABEL_WIDTH}" y="30">Requests per second over HTTP, two CPU cores (higher is better)</text>
${parts.join('\n')}
</svg>
`;
}

const svg = figure();
if (process.argv.includes('--check')) {
  if (readFileSync(OUTPUT, 'utf8') !== svg) {
    console.error('docs/assets/throughput.svg: out of date. Run "npm run references"');
    process.exitCode = 1;
  }
} else {
  mkdirSync(path.dirname(OUTPUT), { recursive: true });
  writeFileSync(OUTPUT, svg);
}
