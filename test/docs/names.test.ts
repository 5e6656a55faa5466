import path from 'node:path';
import { pages, read } from './facts';
import { filesOfRepository } from './markdown';

const SOURCE = /\.(?:ts|mjs|cjs|js|cc|h|rs|py|sh|yml|yaml|cfg|css|toml|service)$/;
/** Made by a build, inside of a TorchScript file, or in the place of what the reader has. */
const NOT_HERE =
  /^(?:build|dist|node_modules|code)\/|…|path\/to|[A-Z]{4}|[=<>*$@]|^my_|overlays\/my-/;
/** A setting, a variable, a code, a metric or an option. */
const NAME =
  /(?<![\w-])(?:[A-Z][A-Z\d]*(?:_[A-Z\d]+)+|libtorch_serve_\w+|--[a-z][a-z-]+)(?![\w*…])/g;
/** Of other programs, which read them themselves. */
const FOREIGN =
  /^(?:HTTPS_PROXY|OTEL_TRACES_SAMPLER_ARG|PIP_\w+|--auto-truncate|--cpu-prof|--local-dir|--restart|--stop-timeout|--tmpfs)$/;

const files = filesOfRepository();
const folders = new Set(
  files.flatMap((file) => [...file.matchAll(/\//g)].map(({ index }) => file.slice(0, index))),
);
const { scripts } = JSON.parse(read('package.json'));
const code = files
  .filter((file) => SOURCE.test(file) || /^(?:deploy|src).*json$/.test(file))
  .filter((file) => !/^test\/(?:docs|fixtures)\//.test(file))
  .map(read)
  .join('\n');

function isPath(word: string): boolean {
  if (NOT_HERE.test(word)) return false;
  return SOURCE.test(word) || (word.includes('/') && folders.has(word.split('/')[0] ?? ''));
}

/** From the root or from the page, whole or, as Jest takes it, without its ending; or the end of a path. */
function exists(word: string, page: string): boolean {
  const plain = path.posix.normalize(word).replace(/\/$/, '');
  const near = path.posix.join(path.posix.dirname(page), plain);
  if (folders.has(plain) || folders.has(near)) return true;
  const names = [near, ...['', '.test.ts', '.cc', '.h'].map((ending) => plain + ending)];
  return files.some((file) => names.some((name) => file === name || file.endsWith(`/${name}`)));
}

/** Of options also as parseArgs has them, and as names of settings. */
function isInCode(name: string): boolean {
  if (code.includes(name) || !name.startsWith('--')) return code.includes(name);
  const option = name.slice(2);
  const setting = option.toUpperCase().replaceAll('-', '_');
  return new RegExp(`(?<![\\w-])'?(?:${option}|${setting})'?: (?:\\{|\\w+\\()`).test(code);
}

describe.each(pages)('$file', ({ file, spans, blocks }) => {
  it('names files that there are', () => {
    const words = (text: string): readonly string[] => text.split(/[\s,()'":;\\]+/).filter(isPath);
    const typed = blocks.flatMap(({ text }) => words(text)).filter((word) => word.includes('/'));
    const named = [...spans.flatMap(words), ...typed];
    expect(named.filter((word) => !exists(word, file))).toEqual([]);
  });

  it('names settings, variables, codes, metrics and options that there are', () => {
    const names = spans.flatMap((span) => span.match(NAME) ?? []);
    expect(names.filter((name) => !FOREIGN.test(name) && !isInCode(name))).toEqual([]);
  });

  it('names suites of GoogleTest that there are', () => {
    const filters = spans.flatMap(
      (span) => /gtest_filter='(.*)'/.exec(span)?.[1]?.split(':') ?? [],
    );
    const missing = filters.filter((filter) => !code.includes(`(${filter.replace(/[.*]+$/, '')}`));
    expect(missing).toEqual([]);
  });

  it('names scripts of package.json that there are', () => {
    const texts = [...spans, ...blocks.map(({ text }) => text)].join('\n');
    const names = [...texts.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
    expect(names.filter((name) => !(name in scripts))).toEqual([]);
  });
});
