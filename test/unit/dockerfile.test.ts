/** What the Dockerfile says, without building it; test/image builds it. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../helpers/service';

const dockerfile = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8');

/** Packages that the compiled files load, by the names in their imports. */
function importedPackages(): ReadonlySet<string> {
  const folder = path.join(ROOT, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => readFileSync(path.join(folder, name), 'utf8'));
  const names = texts.flatMap((text) => [
    ...text.matchAll(/(?:\bfrom|\bimport\(|\brequire\()\s*'((?:@[^/']+\/)?[^./'][^/']*)/g),
  ]);
  return new Set(names.map(([, name = '']) => name));
}

it('takes no package out of the image that the services load', () => {
  const [, removed = ''] = /npm uninstall ([^\\&]*)/.exec(dockerfile) ?? [];
  const packages = removed.split(/\s+/).filter((word) => word && !word.startsWith('-'));
  const imported = importedPackages();
  expect(packages).toContain('cmake-js');
  expect(imported).toContain('express');
  expect(packages.filter((name) => imported.has(name))).toEqual([]);
});
