/** What `npm run sbom` writes, held against the lock files and against what cargo says. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from '../helpers/service';
import { type Lock, type LockEntry, runScript } from '../helpers/supply-chain';

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly scope: 'required' | 'excluded';
  readonly 'bom-ref': string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly { readonly expression: string }[];
}

describe('the bill of materials', () => {
  const SBOM = path.join(ROOT, 'scripts', 'sbom.mjs');
  let temporary: string;
  let text: string;
  let components: readonly Component[];

  beforeAll(async () => {
    temporary = mkdtempSync(path.join(os.tmpdir(), 'sbom-'));
    const file = path.join(temporary, 'sbom.cdx.json');
    expect(await runScript([SBOM, file])).toMatchObject({ code: 0, stderr: '' });
    text = readFileSync(file, 'utf8');
    components = (JSON.parse(text) as { components: Component[] }).components;
  });

  afterAll(() => rmSync(temporary, { recursive: true }));

  const purls = (scope: string) =>
    new Set(components.filter((component) => component.scope === scope).map(({ purl }) => purl));

  it('is CycloneDX, of this program, with names, versions and hashes', () => {
    const { name, version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    expect(JSON.parse(text)).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      serialNumber: expect.stringMatching(
        /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
      ),
      version: 1,
      metadata: { component: { name, version, type: 'application' } },
    });
    expect(new Set(components.map((component) => component['bom-ref'])).size).toBe(
      components.length,
    );
    for (const component of components.filter(({ purl }) =>
      /^pkg:(npm|cargo|pypi)\//.test(purl ?? ''),
    )) {
      expect(component.purl).toMatch(/^pkg:\w+\/(%40[\w.-]+\/)?[\w.-]+@[\w.+-]+$/);
      const [hash] = component.hashes ?? [];
      const digits = { 'SHA-512': 128, 'SHA-256': 64 }[hash?.alg ?? ''];
      expect({ component, digits: hash?.content.length }).toEqual({ component, digits });
    }
  });

  it('has every npm package of the lock file, those of production as required', () => {
    const { packages } = JSON.parse(
      readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'),
    ) as Lock;
    const entries = Object.entries(packages).filter(([key]) => key !== '');
    const purl = ([key, entry]: [string, LockEntry]) =>
      `pkg:npm/${(entry.name ?? key.replace(/^.*node_modules\//, '')).replace('@', '%40')}@${entry.version}`;
    const production = entries.filter(([, entry]) => !entry.dev).map(purl);
    expect(production.length).toBeGreaterThan(100);
    expect(production.filter((one) => !purls('required').has(one))).toEqual([]);
    const all = new Set(components.map((component) => component.purl));
    expect(entries.map(purl).filter((one) => !all.has(one))).toEqual([]);
    expect([...all].filter((one) => one?.startsWith('pkg:npm/'))).toHaveLength(
      new Set(entries.map(purl)).size,
    );
  });

  it('has every crate of Cargo.lock that any platform builds, those that are linked as required', () => {
    const cwd = path.join(ROOT, 'native');
    const tree = (...options: readonly string[]): string[] =>
      execFileSync('cargo', ['tree', '--locked', '--prefix=none', '--format={p}', ...options], {
        cwd,
        encoding: 'utf8',
      })
        .split('\n')
        .filter((line) => !line.includes(' (/')) // our own crates
        .flatMap((line) => /^(\S+) v(\S+)/.exec(line.trim())?.slice(1, 3).join('@') ?? []);
    const linked = tree('--edges=normal,no-proc-macro').map((crate) => `pkg:cargo/${crate}`);
    expect(linked.length).toBeGreaterThan(30);
    expect(linked.filter((one) => !purls('required').has(one))).toEqual([]);
    const lock = readFileSync(path.join(cwd, 'Cargo.lock'), 'utf8');
    // The file also has what cxx names for no platform at all: a tool of the same release.
    const built = new Set(
      tree('--workspace', '--target=all', '--edges=normal,build,dev', '--prune=cxxbridge-cmd'),
    );
    const locked = [
      ...lock.matchAll(/name = "(.*)"\nversion = "(.*)"\nsource = .*\nchecksum = "(.*)"/g),
    ].filter(([, name, version]) => built.has(`${name}@${version}`));
    expect(locked.length).toBeGreaterThan(100);
    expect(
      components
        .filter(({ purl }) => purl?.startsWith('pkg:cargo/'))
        .map(({ name, version, hashes }) => `${name} ${version} ${hashes?.[0]?.content}`)
        .sort(),
    ).toEqual(locked.map(([, ...fields]) => fields.join(' ')).sort());
  });

  it('has the wheels of LibTorch with the hashes that the build verifies, and what is in crates', () => {
    const file = path.join(ROOT, 'scripts/libtorch/libtorch.json');
    const { platforms } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly platforms: Record<string, { readonly wheels: readonly Record<string, string>[] }>;
    };
    const pinned = Object.values(platforms).flatMap(({ wheels }) =>
      wheels.map(({ name, version, sha256 }) => `${name} ${version} ${sha256}`),
    );
    expect(pinned).toHaveLength(6);
    expect(
      components
        .filter(({ purl }) => purl?.startsWith('pkg:pypi/'))
        .map(({ name, version, hashes }) => `${name} ${version} ${hashes?.[0]?.content}`),
    ).toEqual(pinned);
    expect(purls('required')).toContainEqual(expect.stringMatching(/^pkg:generic\/oniguruma@6\./));
  });

  it('has nothing from registries that is passed on without the text of its licence', async () => {
    const script = path.join(ROOT, 'scripts', 'third-party-licenses.mjs');
    const file = path.join(temporary, 'licenses.txt');
    expect(await runScript([script, file])).toMatchObject({ code: 0 });
    const licences = readFileSync(file, 'utf8');
    const passedOn = components
      .filter(({ scope, purl }) => scope === 'required' && /^pkg:(npm|cargo)\//.test(purl ?? ''))
      .map(({ purl = '' }) => decodeURIComponent(purl.replace(/^pkg:\w+\//, '')))
      .map((name) => name.replace(/@(?=[^@]*$)/, ' '));
    expect(passedOn.length).toBeGreaterThan(200);
    const headings = new Set(licences.match(/^\S+ \S+ \(.*\)$/gm));
    const has = (name: string) => [...headings].some((heading) => heading.startsWith(`${name} (`));
    expect(passedOn.filter((name) => !has(name))).toEqual([]);
    expect(licences).not.toContain('holds no licence text');
  });

  it('is the same file for the same lock files', async () => {
    const again = path.join(temporary, 'again.json');
    await runScript([SBOM, again]);
    expect(readFileSync(again, 'utf8')).toBe(text);
  });
});
