/** What `npm run check:supply-chain` makes of the answers of registries: npm, pip and the check are real. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { CHECK, type Result, runScript } from '../helpers/supply-chain';

describe('advisories', () => {
  let server: http.Server;
  let cache: string;
  /** By package name, as the registries answer them. */
  let npm: Record<string, readonly object[]> | undefined;
  let python: Record<string, readonly object[]>;

  beforeEach(async () => {
    cache = mkdtempSync(path.join(os.tmpdir(), 'advisories-'));
    npm = {};
    python = {};
    server = http.createServer((request, response) => {
      request.resume().on('end', () => {
        const answer = answerOf(request.method, request.url ?? '');
        response.writeHead(answer ? 200 : npm ? 404 : 405, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer ?? {}));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    server.close();
    rmSync(cache, { recursive: true });
  });

  function answerOf(method: string | undefined, url: string): object | undefined {
    if (method === 'POST') return /advisories\/bulk$/.test(url) ? npm : undefined;
    const [, name = '', version = ''] = /^\/pypi\/([^/]+)\/([^/]+)\/json$/.exec(url) ?? [];
    return name && npm ? { info: { version }, vulnerabilities: python[name] ?? [] } : undefined;
  }

  function ask(): Promise<Result> {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return runScript([CHECK, `--pypi=${origin}/pypi`], {
      npm_config_registry: `${origin}/`,
      npm_config_cache: cache, // npm keeps what it makes of an advisory
      no_proxy: '127.0.0.1',
      RUSTSEC_DB: cache, // no database: only these two are to answer
    });
  }

  const advisory = (severity: string, title: string) => ({
    id: title.length, // npm takes those of one id, or of one URL, for one
    url: `https://example.org/${title.length}`,
    title,
    severity,
    vulnerable_versions: '*',
    cwe: [],
    cvss: { score: 0 },
  });

  it('are none, when those who are asked know none', async () => {
    const { code, stdout, stderr } = await ask();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toMatch(/not asked: (npm|PyPI)/);
    expect(stdout).toMatch(/^advisories: none known to who was asked$/m);
  });

  it('are said not to have been asked for, when nobody answers, which is no failure', async () => {
    npm = undefined;
    const { code, stdout } = await ask();
    expect(stdout).toMatch(/^not asked: npm audit: 405/m);
    expect(stdout).toMatch(/^not asked: PyPI: torch .*HTTP Error 405/m);
    expect(code).toBe(0);
  });

  it('fail the check when they are high, and in what ships', async () => {
    npm = { express: [advisory('high', 'Answers too much')] };
    const { code, stderr } = await ask();
    expect(stderr).toMatch(
      /^check:supply-chain: npm express: Answers too much \(https:\S+, high, shipped\); use a version without it/m,
    );
    expect(code).toBe(1);
  });

  it('fail it in what the pages are made of', async () => {
    npm = { preact: [advisory('critical', 'Draws too much')] };
    expect(await ask()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/npm preact: Draws too much \(.*critical, shipped\)/),
    });
  });

  it('are printed, and fail nothing, when they are lower or for development', async () => {
    npm = {
      express: [advisory('moderate', 'Answers a little')],
      jest: [advisory('critical', 'Tests too much')],
    };
    python = { numpy: [{ id: 'PYSEC-0', summary: 'Counts too much' }] };
    const { code, stdout } = await ask();
    expect(stdout).toMatch(/^known: npm express: Answers a little \(.*, moderate, shipped\)$/m);
    expect(stdout).toMatch(/^known: npm jest: Tests too much \(.*, critical, not shipped\)$/m);
    expect(stdout).toMatch(
      /^known: PyPI numpy: Counts too much \(PYSEC-0, not rated, not shipped\)$/m,
    );
    expect(code).toBe(0);
  });

  it('fail it for LibTorch, which nobody rates, but not when they were withdrawn', async () => {
    python = { torch: [{ id: 'PYSEC-1', summary: 'Reads too much' }] };
    expect(await ask()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/PyPI torch: Reads too much \(PYSEC-1, not rated, shipped\)/),
    });
    python = { torch: [{ id: 'PYSEC-1', summary: 'Reads too much', withdrawn: '2026-01-01' }] };
    expect(await ask()).toMatchObject({ code: 0, stderr: '' });
  });
});
