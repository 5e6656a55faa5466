/** What a binary asks of the libraries of the system. */
import { spawnSync } from 'node:child_process';

/**
 * The newest version of each kind that it names: { glibc: '2.34', glibcxx: '3.4.30', cxxabi: … }.
 *
 * @throws Error where readelf (of binutils, which comes with a compiler) is not there
 */
export function symbolVersions(file) {
  const run = spawnSync('readelf', ['--version-info', '--wide', file], { encoding: 'utf8' });
  if (run.error || run.status !== 0) {
    throw new Error(`readelf ${file}: ${run.error?.message ?? run.stderr.trim()}`);
  }
  const needs = run.stdout.slice(run.stdout.indexOf('.gnu.version_r'));
  const newest = {};
  for (const [, kind, version] of needs.matchAll(/Name: (GLIBC|GLIBCXX|CXXABI)_([\d.]+)\b/g)) {
    const key = kind.toLowerCase();
    if (newest[key] === undefined || compare(version, newest[key]) > 0) newest[key] = version;
  }
  return newest;
}

function compare(one, other) {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number));
  const at = a.findIndex((part, index) => part !== b[index]);
  if (at < 0) return a.length - b.length;
  return a[at] - (b[at] ?? -1);
}
