/**
 * Draws docs/assets/throughput.svg from bench/results: requests per second by model and server, one panel per model.
 * A panel has all servers of the measurement, so that no peer is left out. The output depends on bench/results only.
 *
 *   node scripts/throughput-figure.mjs           writes the file
 *   node scripts/throughput-figure.mjs --check   exits with 1 if the file is out of date
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const OUTPUT = path.join(ROOT, 'docs/assets/throughput.svg');

/** Panels: file in bench/results, model, and the load and number of clients that are drawn. */
const PANELS = [
  { file: 'eeg', title: 'Signal classification, convolutional network', clients: 64 },
  { file: 'sentiment', title: 'Text classification, 22.7 M parameters', clients: 64 },
  {
    file: 'embedding',
    title: 'Embeddings, all-MiniLM-L6-v2, 22.7 M parameters',
    load: 'sentence',
    clients: 64,
  },
  {
    file: 'decoder-embedding',
    title: 'Embeddings, shape of Qwen3-Embedding-0.6B',
    load: 'sentence',
    clients: 8,
  },
  {
    file: 'reranking',
    title: 'Reranking of 100 documents, 22.7 M parameters',
    load: '100 documents',
    clients: 4,
  },
  {
    file: 'tagging',
    title: 'Token classification of 128 tokens, BERT base',
    load: '128 tokens',
    clients: 8,
  },
];

/** Suffix of servers that run the model in 8 bits. */
const INT8 = '-int8';
const OWN = 'libtorch-serve';
const LABELS = {
  [OWN]: 'libtorch-serve',
  openvino: 'OpenVINO',
  'node-ort': 'ONNX Runtime (Node.js)',
  fastembed: 'fastembed',
  'llama-cpp': 'llama.cpp',
  tei: 'text-embeddings-inference',
  'fastapi-tuned': 'FastAPI, tuned',
  fastapi: 'FastAPI',
};

const WIDTH = 860;
const LEFT = 184;
const RIGHT = 76;
const HEADER = 84;
const TITLE = 30;
const BAR = 13;
const BAR_GAP = 2;
const GROUP_GAP = 9;
const AXIS = 44;
const FOOTER = 30;

/** Bars of a panel by server, in the order of LABELS, each with its values by number format. */
function groupsOf({ load, clients }, { service, servers }) {
  const names = new Set(servers.map(({ server }) => server.replace(INT8, '')));
  const unknown = [...names].filter((name) => !(name in LABELS));
  if (unknown.length > 0) throw new Error(`${service}: no label for ${unknown.join(', ')}`);
  const throughputOf = (name) => {
    const levels = servers.find(({ server }) => server === name)?.levels ?? [];
    const level = levels.find((one) => one.clients === clients && one.load === load);
    return level?.rps.median;
  };
  return Object.keys(LABELS)
    .filter((name) => names.has(name))
    .map((name) => ({
      label: LABELS[name],
      kind: name === OWN ? 'own' : 'peer',
      bars: [
        { format: 'int8', value: throughputOf(name + INT8) },
        { format: 'float32', value: throughputOf(name) },
      ].filter(({ value }) => value !== undefined),
    }));
}

/** Processor of the measurement, by the instruction sets that distinguish the generations in bench/results. */
function processorOf({ cpu, flags }) {
  const has = (flag) => flags.includes(flag);
  if (cpu !== 'AMD EPYC') return cpu;
  if (has('avx512_vp2intersect')) return 'AMD EPYC, Zen 5';
  return has('avx512_bf16') ? 'AMD EPYC, Zen 4' : cpu;
}

/** Distance of the marks of an axis: 1, 2 or 5 times a power of ten, at most six of them. */
function tickStep(largest) {
  const power = 10 ** Math.floor(Math.log10(largest));
  return [0.1, 0.2, 0.5, 1, 2].map((one) => one * power).find((step) => largest / step <= 6);
}

/** Text of a number, without the rounding errors of sums. */
function formatNumber(value) {
  const digits = value >= 100 ? 0 : 2;
  return Number(value.toFixed(digits)).toLocaleString('en-US');
}

function text(kind, x, y, content, anchor = 'start') {
  return `<text class="${kind}" x="${x}" y="${y}" text-anchor="${anchor}">${content}</text>`;
}

function panel(options, top) {
  const results = JSON.parse(
    readFileSync(path.join(ROOT, 'bench/results', `${options.file}.json`), 'utf8'),
  );
  const groups = groupsOf(options, results);
  const largest = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)));
  const xOf = (value) => LEFT + Math.round((value / largest) * (WIDTH - LEFT - RIGHT));
  const { rounds } = results.options;
  const measured = `${rounds} ${rounds === 1 ? 'round' : 'rounds'}, ${processorOf(results.machine)}`;
  const bars = [];
  let y = top + TITLE;
  for (const { label, kind, bars: ofServer } of groups) {
    const height = ofServer.length * (BAR + BAR_GAP) - BAR_GAP;
    bars.push(text('label', LEFT - 10, y + height / 2 + 4.5, label, 'end'));
    for (const { format, value } of ofServer) {
      const width = Math.max(1, xOf(value) - LEFT);
      bars.push(
        `<rect class="${kind} ${format}" x="${LEFT}" y="${y}" width="${width}" height="${BAR}" rx="2"/>`,
        text('value', LEFT + width + 6, y + BAR - 2.5, formatNumber(value)),
      );
      y += BAR + BAR_GAP;
    }
    y += GROUP_GAP - BAR_GAP;
  }
  const bottom = y - GROUP_GAP + 6;
  const step = tickStep(largest);
  const ticks = Array.from({ length: Math.floor(largest / step + 1e-9) + 1 }, (_, i) => i * step);
  const axis = ticks.flatMap((tick) => [
    `<line class="grid" x1="${xOf(tick)}" y1="${top + TITLE - 5}" x2="${xOf(tick)}" y2="${bottom}"/>`,
    text('tick', xOf(tick), bottom + 15, formatNumber(tick), 'middle'),
  ]);
  const svg = [
    text('title', LEFT, top + 14, options.title),
    text('tick', WIDTH - 16, top + 14, `${options.clients} clients, ${measured}`, 'end'),
    ...axis,
    ...bars,
    text('tick', LEFT - 10, bottom + 15, 'requests/s', 'end'),
  ];
  return { svg: svg.join('\n'), height: bottom - top + AXIS };
}

function legend(y) {
  const entries = [
    ['own int8', 'libtorch-serve, int8'],
    ['own float32', 'libtorch-serve, float32'],
    ['peer int8', 'other servers, int8'],
    ['peer float32', 'other servers, float32'],
  ];
  return entries
    .map(([kind, label], index) => {
      const x = 16 + index * 190;
      return `<rect class="${kind}" x="${x}" y="${y - 11}" width="13" height="13" rx="2"/>\n${text('label', x + 20, y, label)}`;
    })
    .join('\n');
}

function figure() {
  let top = HEADER;
  const parts = [];
  for (const options of PANELS) {
    const { svg, height } = panel(options, top);
    parts.push(svg);
    top += height;
  }
  const height = top - AXIS + 22 + FOOTER;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
<title id="title">Throughput over HTTP by model and server, in requests per second, on two CPU cores</title>
<style>
text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }
.head { font-size: 17px; font-weight: 600; }
.title { font-weight: 600; }
.value { font-size: 12px; font-variant-numeric: tabular-nums; }
.tick, .note { font-size: 12px; fill: #59636e; }
.grid { stroke: #d8dee4; }
.background { fill: #ffffff; stroke: #d8dee4; }
.own.float32 { fill: #1f5fd6; }
.own.int8 { fill: #74a7ff; }
.peer.float32 { fill: #737d88; }
.peer.int8 { fill: #b8c0c9; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.tick, .note { fill: #9aa4af; }
.grid { stroke: #2b323b; }
.background { fill: #0d1117; stroke: #2b323b; }
.own.float32 { fill: #4c8dff; }
.own.int8 { fill: #a3c7ff; }
.peer.float32 { fill: #6b7480; }
.peer.int8 { fill: #a3acb6; }
}
</style>
<rect class="background" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="6"/>
${text('head', 16, 32, 'Throughput over HTTP on two CPU cores, in requests per second (more is better)')}
${legend(60)}
${parts.join('\n')}
${text('note', 16, height - 14, 'Medians of the rounds. The load driver ran on the same two cores. Each panel has its own scale.')}
</svg>
`;
}

const svg = figure();
if (process.argv.includes('--check')) {
  if (readFileSync(OUTPUT, 'utf8') !== svg) {
    console.error('docs/assets/throughput.svg: out of date. Run "npm run figure"');
    process.exitCode = 1;
  }
} else {
  mkdirSync(path.dirname(OUTPUT), { recursive: true });
  writeFileSync(OUTPUT, svg);
}
