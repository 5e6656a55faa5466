// Bundles the pages of src/pages into dist/pages, with compressed forms of each file beside it, and
// the licences of the libraries that went in.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { compress } from './compress.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const SOURCES = path.join(ROOT, 'src', 'pages');
const OUTPUT = path.join(ROOT, 'dist', 'pages');
const PAGES = {
  sentiment: {
    title: 'Sentiment',
    description: 'Try the text classifier that this server runs.',
  },
  eeg: {
    title: 'EEG',
    description:
      'Try the EEG window classifier that this server runs. A demonstration, not a medical device.',
  },
  tagging: {
    title: 'Tagging',
    description: 'Try the token classifier that this server runs: spans of a text, with labels.',
  },
  embedding: {
    title: 'Embedding',
    description: 'Try the model of vectors that this server runs: how alike lines of text are.',
  },
  reranking: {
    title: 'Reranking',
    description:
      'Try the reranker that this server runs: documents by how well they answer a query.',
  },
  'zero-shot': {
    title: 'Zero-shot classification',
    description: 'Try the entailment model that this server runs: texts to labels of your own.',
  },
  models: { title: 'Models', description: 'The models that this server runs.' },
  guard: {
    title: 'Guard',
    description:
      'Try the guard of this server: what its checks find in texts, and with which thresholds.',
    service: '../',
  },
};

for (const [page, words] of Object.entries(PAGES)) {
  const folder = path.join(OUTPUT, page);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    // The first one is loaded before anything is drawn, the second one after the page.
    entryPoints: {
      theme: path.join(SOURCES, 'shared', 'early-theme.ts'),
      main: path.join(SOURCES, page, 'main.tsx'),
    },
    outdir: folder,
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    charset: 'utf8',
    format: 'iife',
    target: ['chrome111', 'firefox113', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none', // licenses.txt has them
    metafile: true,
    tsconfig: path.join(SOURCES, 'tsconfig.json'),
    // The variant of the parser that brings its own Buffer.
    alias: { 'csv-parse/sync': 'csv-parse/browser/esm/sync' },
  });
  const html = htmlOf({ service: './', ...words }, Object.keys(metafile.outputs));
  writeFileSync(path.join(folder, 'index.html'), html);
  copyFileSync(path.join(SOURCES, 'shared', 'icon.svg'), path.join(folder, 'icon.svg'));
  writeFileSync(path.join(folder, 'licenses.txt'), licences(Object.keys(metafile.inputs)));
  for (const name of readdirSync(folder)) compress(path.join(folder, name));
}

/**
 * The page's HTML with its words, and the names that its files got.
 *
 * @param words `service`: where the service is, from the page
 */
function htmlOf(words, outputs) {
  const names = outputs.map((output) => path.basename(output));
  const template = readFileSync(path.join(SOURCES, 'shared', 'index.html'), 'utf8');
  return template
    .replaceAll(/\{(title|description|service)\}/g, (_match, name) => words[name])
    .replaceAll(/\{(theme|main)\.(js|css)\}/g, (_match, entry, type) => {
      const name = names.find((name) => name.startsWith(`${entry}-`) && name.endsWith(`.${type}`));
      if (name === undefined) throw new Error(`${words.title}: there is no ${entry}.${type}`);
      return name;
    });
}

/** @param inputs paths of the bundled files, relative to ROOT */
function licences(inputs) {
  const packages = new Set(
    inputs.flatMap((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
  );
  return [...packages]
    .sort()
    .map((name) => {
      const folder = path.join(ROOT, 'node_modules', name);
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      if (file === undefined) throw new Error(`${name}: has no licence file`);
      const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
      return `${name} ${version}\n\n${readFileSync(path.join(folder, file), 'utf8').trim()}\n`;
    })
    .join(`\n${'-'.repeat(72)}\n\n`);
}
