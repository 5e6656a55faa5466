import path from 'node:path';
import type { Logger } from 'pino';
import { readStaticFiles, type StaticFile } from '../../http/static-files';
import type { Config } from '../../settings/config';
import { TASKS } from '../../tasks/registry';

const PAGES = path.join(__dirname, '../../pages');

/** Name of a folder in dist/pages; `docs` contains the API documentation. */
export type PageName = string;

/** Page of decisions, for models whose own page is another. Its address is below the address of the model. */
export const DECISIONS_SUBPAGE: PageName = 'decisions-subpage';

/** Files of each page, with paths from the root. */
export type Pages = Readonly<Partial<Record<PageName, readonly StaticFile[]>>>;

/** Reads the pages of a service. After an incomplete build, the service works without pages. */
export async function readPages(service: Config['service'], logger: Logger): Promise<Pages> {
  const names: readonly PageName[] =
    service === 'models'
      ? ['models', 'guard', DECISIONS_SUBPAGE, ...TASKS.flatMap(({ page }) => page ?? []), 'docs']
      : [service, 'docs'];
  try {
    const read = names.map(async (name) => {
      const files = await readStaticFiles(path.join(PAGES, name), name === 'docs' ? '/docs' : '/');
      return [name, files] as const;
    });
    return Object.fromEntries(await Promise.all(read));
  } catch (error) {
    logger.warn({ err: error }, 'pages not found. Run "npm run build"');
    return {};
  }
}

/** @param at address of the page; empty for the root */
export function pagesBelow(pages: Pages, name: PageName, at: string): readonly StaticFile[] {
  const files = pages[name] ?? [];
  return at === '' ? files : files.map((file) => ({ ...file, path: at + file.path }));
}
