import { readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Version of this package, such as 0.1.0.
 *
 * @param packageRoot absolute folder of package.json
 */
export function packageVersion(packageRoot: string): string {
  const manifest: unknown = JSON.parse(
    readFileSync(path.join(packageRoot, 'package.json'), 'utf8'),
  );
  return (manifest as { readonly version: string }).version;
}
