/**
 * Prints the files of src/ that one request executes, in a service that has answered the same request before.
 *
 *   npm run build && node scripts/trace-request.mjs /analyze /v1/embeddings
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const PRELOAD = path.join(ROOT, 'scripts/trace/count-functions.cjs');
const EMBEDDING_MODEL = path.join(ROOT, 'test/fixtures/embeddings/sentences/v2-mean-normalize');
/** Requests before the measured one: caches are filled, and log and metrics have their first entries. */
const WARM_UP = 3;
const MEASURED = 5;

/** Service and body of each route that can be traced. `model`: folder that is served in a model repository. */
const REQUESTS = {
  '/analyze': { args: ['sentiment'], body: { text: "It wasn't good." } },
  '/v1/embeddings': {
    args: ['models'],
    model: EMBEDDING_MODEL,
    body: { input: 'A short text.', model: 'embedding' },
  },
};

/** @returns paths below src/ without extension, sorted */
export async function traceRequest(route) {
  const { args, model, body } = REQUESTS[route];
  const repository = mkdtempSync(path.join(tmpdir(), 'trace-request-'));
  if (model) cpSync(model, path.join(repository, 'embedding'), { recursive: true });
  const service = fork(path.join(ROOT, 'dist/main.js'), model ? [...args, repository] : args, {
    execArgv: ['--require', PRELOAD],
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  try {
    const port = await listeningPort(service);
    const send = () => request(`http://127.0.0.1:${port}${route}`, body);
    for (let i = 0; i < WARM_UP; i++) await send();
    let files = null;
    for (let i = 0; i < MEASURED; i++) {
      await call(service, 'start');
      await send();
      const executed = await call(service, 'stop');
      // Timers of the service may run during a request: only files that each request executes count.
      files = files?.filter((file) => executed.includes(file)) ?? executed;
    }
    return files.map((file) => file.replace(/\.js$/, '')).sort();
  } finally {
    service.kill('SIGKILL');
    rmSync(repository, { recursive: true });
  }
}

async function listeningPort(service) {
  let log = '';
  for await (const chunk of service.stdout) {
    log += chunk;
    const port = /"port":(\d+).*"listening"/.exec(log)?.[1];
    if (port) return Number(port);
  }
  throw new Error(`the service did not listen: ${log}`);
}

async function request(url, body) {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.ok) return;
    // A model of a repository is loaded after the port is open.
    if (attempt === 100) throw new Error(`${url}: ${response.status} ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function call(service, message) {
  const reply = once(service, 'message');
  service.send(message);
  return (await reply)[0];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const routes = process.argv.slice(2);
  for (const route of routes.length > 0 ? routes : Object.keys(REQUESTS)) {
    const files = await traceRequest(route);
    console.log(`${route}: ${files.length} files of src`);
    for (const file of files) console.log(`  ${file}`);
  }
}
