import path from 'node:path';
import type { Logger } from 'pino';
import { readStaticFiles, type StaticFile } from '../../http/static-files';
import type { Config } from '../../settings/config';
import { TASKS } from '../../tasks/registry';

const PAGES = path.join(__dirname, '../../pages');

/** A folder of dist/pages; `docs` is the page of the API. */
export type PageName = string;

/** By name, with paths from the root. */
export type Pages = Readonly<Partial<Record<PageName, readonly StaticFile[]>>>;

/** Without its pages, from a build that was not finished, a service still does what it is for. */
export async function readPages(service: Config['service'], logger: Logger): Promise<Pages> {
  const names: readonly PageName[] =
    service === 'models'
      ? ['models', 'guard', ...TASKS.flatMap(({ page }) => page ?? []), 'docs']
      : [service, 'docs'];
  try {
    const read = names.map(async (name) => {
      const files = await readStaticFiles(path.join(PAGES, name), name === 'docs' ? '/docs' : '/');
      return [name, files] as const;
    });
    return Object.fromEntries(await Promise.all(read));
  } catch (error) {
    logger.warn(`There are no pages, run "npm run build": ${(error as Error).message}`);
    return {};
  }
}

/** @param at below which address; empty: the root */
export function pagesBelow(pages: Pages, name: PageName, at: string): readonly StaticFile[] {
  const files = pages[name] ?? [];
  return at === '' ? files : files.map((file) => ({ ...file, path: at + file.path }));
}
