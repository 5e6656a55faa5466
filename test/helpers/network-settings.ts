/** How this machine says where packages come from, and what to trust, for programs in another root. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

const SETTINGS =
  /^((PIP|UV)_\w+|(https?|no|all)_proxy|npm_config_(registry|https_proxy|proxy|noproxy)|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|REQUESTS_CA_BUNDLE)$/i;

/** Variables to be set there. */
export function networkVariables(): Readonly<Record<string, string>> {
  const given = Object.entries(process.env)
    .filter(([name]) => SETTINGS.test(name))
    .map(([name, value = '']) => [name, value] as const);
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' });
  return Object.fromEntries([['npm_config_registry', registry.trim()], ...given]);
}

/** Copies into a root what the variables name, and what programs look for unasked. */
export function copyNetworkFiles(root: string): void {
  const named = Object.values(networkVariables()).filter((value) => path.isAbsolute(value));
  for (const file of ['/etc/resolv.conf', '/etc/hosts', '/etc/pip.conf', ...named]) {
    if (!existsSync(file)) continue;
    const place = path.join(root, file);
    mkdirSync(path.dirname(place), { recursive: true });
    cpSync(file, place, { recursive: true, dereference: true });
  }
}
