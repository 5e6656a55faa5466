// Bundles the pages of src/pages into dist/pages, with compressed variants of each file and the licenses of the
// bundled libraries. The libraries are devDependencies, because the package contains only the bundles. Preact and
// signals re-render only the parts of a page that read a changed value. uPlot (22 kB) draws recordings of a million
// samples. Resampling and CSS are our own code: no library was worth its size.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { compress } from './compress.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const SOURCES = path.join(ROOT, 'src', 'pages');
const OUTPUT = path.join(ROOT, 'dist', 'pages');
const DECISIONS = {
  title: 'Decisions',
  description: 'Try typed questions about a text with the model of this server.',
};
/**
 * Pages by folder in dist/pages. `source`: folder in src/pages, default: the same. `service`: default `./`. `workers`:
 * sources of workers by the constant with their URL.
 */
const PAGES = {
  sentiment: {
    title: 'Sentiment',
    description: 'Try text classification with the model of this server.',
  },
  eeg: {
    title: 'EEG',
    description:
      'Try EEG window classification with the model of this server. A demonstration, not a medical device.',
    workers: { FILTER_WORKER: 'eeg/channels/filter-worker.ts' },
  },
  tagging: {
    title: 'Tagging',
    description: 'Try token classification (NER) with the model of this server.',
  },
  embedding: {
    title: 'Embedding',
    description: 'Try embeddings: the similarity of texts with the model of this server.',
  },
  reranking: {
    title: 'Reranking',
    description: 'Try reranking: documents by relevance to a query with the model of this server.',
  },
  'zero-shot': {
    title: 'Zero-shot classification',
    description: 'Try zero-shot classification with the model of this server and your own labels.',
  },
  entities: {
    title: 'Entity recognition',
    description: 'Find entities of your own types with the model of this server.',
  },
  decisions: DECISIONS,
  'decisions-subpage': { ...DECISIONS, source: 'decisions', service: '../' },
  models: { title: 'Models', description: 'Models of this server.' },
  guard: {
    title: 'Guardrail',
    description:
      'Try the guardrail of this server: findings of its checks at different thresholds.',
    service: '../',
  },
};

const OPTIONS = {
  absWorkingDir: ROOT,
  entryNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  charset: 'utf8',
  format: 'iife',
  target: ['chrome111', 'firefox113', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none', // licenses.txt contains them
  metafile: true,
  tsconfig: path.join(SOURCES, 'tsconfig.json'),
};

for (const [page, texts] of Object.entries(PAGES)) {
  const folder = path.join(OUTPUT, page);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { source = page, workers = {} } = texts;
  const define = {};
  for (const [name, file] of Object.entries(workers))
    define[name] = await buildWorker(file, folder);
  const { metafile } = await build({
    ...OPTIONS,
    // `theme` is loaded in the head, before the first paint; `main` at the end of the page.
    entryPoints: {
      theme: path.join(SOURCES, 'shared', 'early-theme.ts'),
      main: path.join(SOURCES, source, `${source}-page.tsx`),
    },
    outdir: folder,
    define,
    // The variant of the parser with a bundled Buffer.
    alias: { 'csv-parse/sync': 'csv-parse/browser/esm/sync' },
  });
  const html = htmlOf({ service: './', ...texts }, Object.keys(metafile.outputs));
  writeFileSync(path.join(folder, 'index.html'), html);
  copyFileSync(path.join(SOURCES, 'shared', 'icon.svg'), path.join(folder, 'icon.svg'));
  writeFileSync(path.join(folder, 'licenses.txt'), licenses(Object.keys(metafile.inputs)));
  for (const name of readdirSync(folder)) compress(path.join(folder, name));
}

/** @returns the URL of a worker relative to the page, as an expression */
async function buildWorker(file, folder) {
  const entryPoints = [path.join(SOURCES, file)];
  const { metafile } = await build({ ...OPTIONS, entryPoints, outdir: folder });
  const [output] = Object.keys(metafile.outputs);
  return JSON.stringify(`./${path.basename(output)}`);
}

/**
 * Fills the HTML template with a page's texts and hashed file names.
 *
 * @param texts `service`: URL of the server, relative to the page
 */
function htmlOf(texts, outputs) {
  const names = outputs.map((output) => path.basename(output));
  const template = readFileSync(path.join(SOURCES, 'shared', 'index.html'), 'utf8');
  return template
    .replaceAll(/\{(title|description|service)\}/g, (_match, name) => texts[name])
    .replaceAll(/\{(theme|main)\.(js|css)\}/g, (_match, entry, type) => {
      const name = names.find((name) => name.startsWith(`${entry}-`) && name.endsWith(`.${type}`));
      if (name === undefined) throw new Error(`${texts.title}: ${entry}.${type} is missing`);
      return name;
    });
}

/** @param inputs paths of the bundled files, relative to ROOT */
function licenses(inputs) {
  const packages = new Set(
    inputs.flatMap((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
  );
  return [...packages]
    .sort()
    .map((name) => {
      const folder = path.join(ROOT, 'node_modules', name);
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      if (file === undefined) throw new Error(`${name}: no license file`);
      const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
      return `${name} ${version}\n\n${readFileSync(path.join(folder, file), 'utf8').trim()}\n`;
    })
    .join(`\n${'-'.repeat(72)}\n\n`);
}
