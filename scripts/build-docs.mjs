// Puts Swagger UI into dist/pages/docs, so that /docs needs nothing from elsewhere, with images in
// files of their own: the content security policy of our pages allows none in style sheets.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compress } from './compress.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const SWAGGER_UI = path.join(ROOT, 'node_modules', 'swagger-ui-dist');
const SOURCES = path.join(ROOT, 'src', 'pages', 'docs');
const OUTPUT = path.join(ROOT, 'dist', 'pages', 'docs');
const DATA_URL = /url\(("?)data:image\/([a-z]+)[^,]*?(;base64)?,(.*?)\1\)/g;
const EXTENSIONS = { svg: 'svg', png: 'png', jpeg: 'jpg' };

rmSync(OUTPUT, { recursive: true, force: true });
mkdirSync(OUTPUT, { recursive: true });

const styles = readFileSync(path.join(SWAGGER_UI, 'swagger-ui.css'), 'utf8').replace(
  /\/\*# sourceMappingURL=.*\*\/\s*$/,
  '',
);
const names = {
  styles: write('swagger-ui', 'css', withImageFiles(styles)),
  ours: write('docs', 'css', readFileSync(path.join(SOURCES, 'docs.css'))),
  viewer: write('swagger-ui', 'js', readFileSync(path.join(SWAGGER_UI, 'swagger-ui-bundle.js'))),
  start: write('start', 'js', readFileSync(path.join(SOURCES, 'start.js'))),
};
const html = readFileSync(path.join(SOURCES, 'index.html'), 'utf8');
writeFileSync(
  path.join(OUTPUT, 'index.html'),
  html.replaceAll(/\{(\w+)\}/g, (_match, name) => names[name]),
);
writeFileSync(
  path.join(OUTPUT, 'licenses.txt'),
  ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt']
    .map((name) => readFileSync(path.join(SWAGGER_UI, name), 'utf8').trim())
    .join(`\n\n${'-'.repeat(72)}\n\n`),
);
copyFileSync(path.join(SOURCES, '..', 'shared', 'icon.svg'), path.join(OUTPUT, 'icon.svg'));
for (const name of readdirSync(OUTPUT)) {
  if (!/\.(png|jpg)$/.test(name)) compress(path.join(OUTPUT, name));
}

/** Returns the name, which changes with the content, so that it never goes stale. */
function write(name, extension, content) {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8).toUpperCase();
  const file = `${name}-${hash}.${extension}`;
  writeFileSync(path.join(OUTPUT, file), content);
  return file;
}

function withImageFiles(css) {
  return css.replaceAll(DATA_URL, (_match, _quote, type, base64, data) => {
    const content = base64
      ? Buffer.from(data, 'base64')
      : decodeURIComponent(data.replaceAll('\\"', '"'));
    return `url(${write('image', EXTENSIONS[type], content)})`;
  });
}
