import { spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a server may take to answer; each takes seconds where nothing else runs. */
const START_MS = 300_000;

/**
 * Kubernetes' own API server with an etcd, on ports of this machine, as tests of controllers have it: no
 * nodes and no controllers, so that what is applied is read, filled in, judged and stored, and nothing runs.
 */
export class ApiServer {
  #folder = mkdtempSync(path.join(os.tmpdir(), 'libtorch-serve-kubernetes-'));
  #token = randomBytes(16).toString('hex');
  #children = [];
  #port = 0;

  /** @param programs paths of `etcd` and `kube-apiserver` */
  async start(programs) {
    const client = await freePort();
    const peer = await freePort();
    const at = (port) => `http://127.0.0.1:${port}`;
    this.#spawn(programs.etcd, [
      `--data-dir=${path.join(this.#folder, 'etcd')}`,
      `--listen-client-urls=${at(client)}`,
      `--advertise-client-urls=${at(client)}`,
      `--listen-peer-urls=${at(peer)}`,
      `--initial-advertise-peer-urls=${at(peer)}`,
      `--initial-cluster=default=${at(peer)}`,
      '--unsafe-no-fsync',
    ]);
    await this.#until(() => ask(http, { port: client, path: '/health' }));
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const put = (name, text) => {
      writeFileSync(path.join(this.#folder, name), text, { mode: 0o600 });
      return path.join(this.#folder, name);
    };
    this.#port = await freePort();
    this.#spawn(programs['kube-apiserver'], [
      `--etcd-servers=${at(client)}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      '--endpoint-reconciler-type=none',
      `--secure-port=${this.#port}`,
      `--cert-dir=${this.#folder}`,
      `--token-auth-file=${put('tokens', `${this.#token},admin,1,system:masters\n`)}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${put('accounts.pub', publicKey.export({ type: 'spki', format: 'pem' }))}`,
      `--service-account-signing-key-file=${put('accounts.key', privateKey.export({ type: 'pkcs8', format: 'pem' }))}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      // Its accounts are made by a controller.
      '--disable-admission-plugins=ServiceAccount',
    ]);
    await this.#until(async () => {
      const { status } = await this.ask('GET', '/readyz');
      if (status !== 200) throw new Error(`/readyz: ${status}`);
    });
    const { json } = await this.ask('GET', '/version');
    return json.gitVersion;
  }

  /** @returns {Promise<{ status: number, json: any }>} */
  async ask(method, route, { body, type = 'application/json' } = {}) {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': type };
    const ca = readFileSync(path.join(this.#folder, 'apiserver.crt'));
    return ask(https, { port: this.#port, path: route, method, headers, ca }, body);
  }

  async stop() {
    // The API server first: without etcd it would wait.
    for (const { child, ended } of this.#children.reverse()) {
      child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #spawn(file, args) {
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const server = { child, log: '', hasEnded: false, ended: null };
    child.stderr.setEncoding('utf8').on('data', (text) => {
      server.log = (server.log + text).slice(-4000);
    });
    server.ended = new Promise((resolve) => {
      child.on('close', () => {
        server.hasEnded = true;
        resolve();
      });
    });
    this.#children.push(server);
  }

  async #until(isUp) {
    const deadline = Date.now() + START_MS;
    for (;;) {
      const gone = this.#children.find(({ hasEnded }) => hasEnded);
      if (gone) throw new Error(`${path.basename(gone.child.spawnfile)} ended: ${gone.log}`);
      try {
        return await isUp();
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await sleep(200);
      }
    }
  }
}

function ask(protocol, options, body) {
  return new Promise((resolve, reject) => {
    const request = protocol.request({ host: '127.0.0.1', ...options }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => {
        const isJson = /json/.test(response.headers['content-type'] ?? '');
        resolve({ status: response.statusCode, json: isJson ? JSON.parse(text) : text });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
