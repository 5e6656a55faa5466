/** Documentation site of docs/: `npm ci && npm run build` writes it to build/site. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCS = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const MANIFEST = JSON.parse(readFileSync(path.join(DOCS, '../package.json'), 'utf8'));
const REPOSITORY = MANIFEST.homepage.replace(/#.*/, '');

/** Sections of docs/README.md with their pages. */
function sidebar() {
  const index = readFileSync(path.join(DOCS, 'README.md'), 'utf8');
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.slice(0, section.indexOf('\n')),
      collapsed: false,
      items: [...section.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)]
        .filter(([, , link]) => link.endsWith('.md') && !link.startsWith('..'))
        .map(([, text, link]) => ({ text, link: `/${toIndex(link)}` })),
    }));
}

/** Folders of the site have the page index.md where the repository has README.md. */
function toIndex(link) {
  return link.replace(/README\.md/, 'index.md');
}

/** Links to files outside of docs/ and to files that are no pages lead to the repository. */
function adaptLink(link, page) {
  if (/^[a-z]+:|^#/.test(link)) return link;
  const [target, anchor = ''] = link.split(/(?=#)/);
  const absolute = path.resolve(DOCS, path.dirname(page), target);
  const isPage = absolute.startsWith(`${DOCS}${path.sep}`) && absolute.endsWith('.md');
  if (isPage) return toIndex(target) + anchor;
  return `${REPOSITORY}/blob/main/${path.relative(path.join(DOCS, '..'), absolute)}${anchor}`;
}

function links(markdown) {
  markdown.core.ruler.push('links', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      // Vue would evaluate braces in code.
      if (token.type === 'code_inline') token.attrSet('v-pre', '');
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href) token.attrSet('href', adaptLink(href, env.relativePath ?? ''));
    }
  });
}

// biome-ignore lint/style/noDefaultExport: VitePress reads it
export default {
  title: 'libtorch-serve',
  description: MANIFEST.description,
  outDir: path.join(DOCS, '../build/site'),
  cacheDir: path.join(DOCS, '../build/site-cache'),
  rewrites: (page) => toIndex(page),
  cleanUrls: true,
  markdown: { config: links, html: false },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(),
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
  },
};
