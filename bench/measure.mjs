/** One round: every server, started, loaded at every level and stopped, one after the other. */
import { measureGemm } from './flops.mjs';
import { askAll, load } from './load.mjs';
import { OURS, start, usage } from './servers.mjs';

/** How many bodies are compared. */
const COMPARED = 200;

/**
 * Scores have four decimals. transformers and torch run the same kernels; onnxruntime may differ by
 * 1e-4 before both are rounded, so by 2e-4 after.
 */
const TOLERANCE = { fastapi: 1e-4, 'fastapi-tuned': 1e-4, 'node-ort': 2e-4, single: 0 };

/**
 * plan: { service, servers, requestsOf, work, python, model, clients, seconds, warmup }; requestsOf: what each
 * server is asked; work, the useful FLOPs of each request, only for the shipped sentiment model. compare: also
 * compare the answers.
 * Returns { servers: a Map from name to measurements, gemm }; gemm where there is work.
 */
export async function runRound(plan, { compare }) {
  const servers = new Map();
  let [ours, gemm] = [null, null];
  for (const name of plan.servers) {
    const { answers, ...measured } = await measureServer(name, plan, compare);
    servers.set(name, measured);
    if (name === OURS) {
      ours = answers;
      // Right after the load that it is compared with: the machine's speed changes with time.
      if (plan.work) gemm = measureGemm(plan.python);
    } else if (compare) compareAnswers(name, ours, answers);
    console.log(`  ${name} done`);
  }
  return { servers, gemm };
}

/** Of this server, and of its peers. A slow model is to be waited for: the load is no overload. */
function settingsOf(model) {
  return { SENTIMENT_MODEL_DIR: model, MAX_QUEUE_WAIT_MS: '30000', MODEL_DIR: model };
}

async function measureServer(name, plan, compare) {
  const { service, work, python, model, clients, seconds, warmup } = plan;
  const requests = plan.requestsOf(name);
  const server = await start(name, {
    service,
    request: requests[0],
    python,
    env: model ? settingsOf(model) : {},
  });
  const { port, pid, coldStart } = server;
  try {
    const idle = usage(pid).rss;
    const compared = requests.slice(0, compare ? COMPARED : 0);
    const answers = await askAll({ port, requests: compared, clients: 1 });
    const levels = [];
    for (const count of clients) {
      const before = usage(pid).cpu;
      const result = await load({ port, requests, work, clients: count, seconds, warmup });
      const cpu = usage(pid).cpu - before;
      levels.push({ ...result, cpu_s_per_1000: (1000 * cpu) / result.answered });
    }
    const peak = usage(pid).peak;
    return { cold_start_s: coldStart, idle_mb: idle, peak_mb: peak, levels, answers };
  } finally {
    await server.stop();
  }
}

/** The same label (or class), unless the two are tied, and nearly the same score. */
function compareAnswers(peer, ours, theirs) {
  let worst = 0;
  for (const [i, body] of ours.entries()) {
    const [a, b] = [JSON.parse(body), JSON.parse(theirs[i])];
    const [score, other] = [a.score ?? a.confidence, b.score ?? b.confidence];
    const difference = Math.abs(score - other);
    worst = Math.max(worst, difference);
    const tied = Math.abs(score - 0.5) < 1e-3;
    const same = (a.label ?? a.diagnosis) === (b.label ?? b.diagnosis) || tied;
    if (!same || difference > TOLERANCE[peer] + 1e-12) {
      throw new Error(`${peer} answers differently: ${body} against ${theirs[i]}`);
    }
  }
  console.log(
    `  ${peer} agrees on ${ours.length} bodies, largest difference of a score ${worst.toFixed(4)}`,
  );
}
