import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import path from 'node:path';

interface Tool {
  readonly isThere: () => boolean;
  /** What installs it: a command, or what the machine has to allow. */
  readonly install: string;
}

const runs = (command: string, ...args: readonly string[]) => {
  return () => spawnSync(command, args).status === 0;
};

const CHROMIUM_PLACES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The browser to test with: CHROMIUM, or where distributions put it. */
export const CHROMIUM =
  process.env.CHROMIUM ||
  CHROMIUM_PLACES.map((name) => `/usr/bin/${name}`).find((place) => existsSync(place));

/** What tests need and the build does not. */
const TOOLS = {
  buildah: { isThere: runs('buildah', '--version'), install: 'apt-get install buildah' },
  chromium: { isThere: () => CHROMIUM !== undefined, install: 'apt-get install chromium' },
  curl: { isThere: runs('curl', '--version'), install: 'apt-get install curl' },
  debootstrap: {
    isThere: runs('debootstrap', '--version'),
    install: 'apt-get install debootstrap',
  },
  git: { isThere: runs('git', '--version'), install: 'apt-get install git' },
  haproxy: { isThere: runs('haproxy', '-v'), install: 'apt-get install haproxy' },
  nginx: { isThere: runs('nginx', '-v'), install: 'apt-get install nginx-light' },
  openssl: { isThere: runs('openssl', 'version'), install: 'apt-get install openssl' },
  prometheus: { isThere: runs('prometheus', '--version'), install: 'apt-get install prometheus' },
  python: {
    isThere: runs('python3', '-m', 'pip', '--version'),
    install: 'apt-get install python3 python3-pip',
  },
  script: { isThere: runs('script', '--version'), install: 'apt-get install bsdutils' },
  strace: { isThere: runs('strace', '--version'), install: 'apt-get install strace' },
  mount: {
    isThere: runs('unshare', '-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'),
    install: 'allow user namespaces: sysctl kernel.unprivileged_userns_clone=1',
  },
  systemd: { isThere: runs('systemd-analyze', '--version'), install: 'apt-get install systemd' },
} satisfies Readonly<Record<string, Tool>>;

export type ToolName = keyof typeof TOOLS;

/** Whether this machine has the tool: for what tests do beside, where they can. */
export const has = (name: ToolName): boolean => TOOLS[name].isThere();

/** Jest's own, or what skips in their place. */
interface Tests {
  readonly describe: jest.Describe;
  readonly it: jest.It;
}

/** Tests that need these tools: skipped where one is missing, and named in the last lines of `npm test`. */
export function needs(...names: readonly ToolName[]): Tests {
  const missing = names.filter((name) => !has(name));
  for (const name of missing) skipped(name, TOOLS[name].install);
  return missing.length === 0 ? { describe, it } : SKIPPING;
}

/** Tests of what this machine does not do, for a reason that no package mends. */
export function skipWhere(problem: string | null, what: string): Tests {
  if (problem === null) return { describe, it };
  skipped(what, problem);
  return SKIPPING;
}

const SKIPPING: Tests = { describe: describe.skip, it: it.skip };

/** Notes it where scripts/test.mjs asks for it, else on standard error. */
function skipped(what: string, remedy: string): void {
  const file = path.basename(expect.getState().testPath ?? '');
  const { SKIPPED_TESTS } = process.env;
  if (SKIPPED_TESTS === undefined) {
    process.stderr.write(`${file}: skipped what needs ${what}: ${remedy}\n`);
    return;
  }
  appendFileSync(SKIPPED_TESTS, `${JSON.stringify({ file, what, remedy })}\n`);
}
