/**
 * Writes the generated parts of the documentation: the text between `<!-- generated: NAME -->` and `<!-- end -->` of
 * pages, and whole files (scripts/references/references.ts lists them).
 *
 *   node scripts/references.mjs           writes
 *   node scripts/references.mjs --check   exits with 1 if a page or a file is out of date
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const BUNDLE = path.join(ROOT, 'build/references.cjs');
const START = (name) => `<!-- generated: ${name} -->`;
const END = '<!-- end -->';

/** Bundles the TypeScript module, so that no build of the project is needed, and loads it. */
async function loadReferences() {
  await build({
    entryPoints: [path.join(ROOT, 'scripts/references/references.ts')],
    outfile: BUNDLE,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    packages: 'external',
    logLevel: 'warning',
  });
  process.chdir(ROOT);
  return createRequire(import.meta.url)(BUNDLE);
}

/** The page with its generated blocks. Each block is present once, and each marker has a block. */
function withBlocks(page, text, blocks) {
  const parts = text.split(/^<!-- generated: (.+) -->\n/m);
  let result = parts[0];
  const missing = new Set(Object.keys(blocks));
  for (let i = 1; i < parts.length; i += 2) {
    const name = parts[i];
    const at = parts[i + 1].indexOf(END);
    if (!missing.delete(name) || at < 0) throw new Error(`${page}: unexpected block "${name}"`);
    result += `${START(name)}\n${blocks[name]()}\n${parts[i + 1].slice(at)}`;
  }
  if (missing.size > 0) throw new Error(`${page}: missing blocks: ${[...missing].join(', ')}`);
  return result;
}

const { BLOCKS, FILES } = await loadReferences();
const outputs = [
  ...Object.entries(BLOCKS).map(([page, blocks]) => {
    const text = readFileSync(path.join(ROOT, page), 'utf8');
    return [page, withBlocks(page, text, blocks)];
  }),
  ...Object.entries(FILES).map(([file, content]) => [file, content()]),
];
for (const [file, content] of outputs) {
  const target = path.join(ROOT, file);
  let current = null;
  try {
    current = readFileSync(target, 'utf8');
  } catch {}
  if (current === content) continue;
  if (process.argv.includes('--check')) {
    console.error(`${file}: out of date. Run "npm run references"`);
    process.exitCode = 1;
  } else {
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, content);
    console.log(`wrote ${file}`);
  }
}
