import path from 'node:path';
import type { Logger } from 'pino';
import { readStaticFiles, type StaticFile } from '../../http/static-files';
import type { Config } from '../../settings/config';

const PAGES = path.join(__dirname, '../../pages');

/** Without its pages, from a build that was not finished, a service still does what it is for. */
export async function readPages(
  service: Config['service'],
  logger: Logger,
): Promise<readonly StaticFile[]> {
  try {
    const files = await Promise.all([
      readStaticFiles(path.join(PAGES, service), '/'),
      readStaticFiles(path.join(PAGES, 'docs'), '/docs'),
    ]);
    return files.flat();
  } catch (error) {
    logger.warn(`There are no pages, run "npm run build": ${(error as Error).message}`);
    return [];
  }
}
