/** One round: every server, started, loaded at every level and stopped, one after the other. */
import { FIELD } from './field/services.mjs';
import { measureGemm } from './flops.mjs';
import { askAll, load } from './load.mjs';
import { OURS, start, usage } from './servers.mjs';

/**
 * Scores have four decimals. transformers and torch run the same kernels; onnxruntime may differ by
 * 1e-4 before both are rounded, so by 2e-4 after.
 */
const TOLERANCE = { fastapi: 1e-4, 'fastapi-tuned': 1e-4, 'node-ort': 2e-4, single: 0 };

/**
 * plan: { service, servers, loads, work, python, model, seconds, warmup }. loads: { load, requestsOf, clients,
 * compared }; load: its name, where there are several; requestsOf: what each server is asked; clients: numbers of them;
 * compared: how many answers are compared, if any (compare). work: the useful FLOPs of each request, only for the
 * shipped sentiment model.
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
    } else if (compare) {
      for (const [i, { load }] of plan.loads.entries()) {
        const said = (FIELD[plan.service] ? compareField : compareAnswers)(
          { peer: name, service: plan.service },
          ours[i],
          answers[i],
        );
        console.log(`  ${name}${load ? `, ${load}` : ''}: ${said}`);
      }
    }
    console.log(`  ${name} done`);
  }
  return { servers, gemm };
}

/** Of this server, and of its peers. A slow model is to be waited for: the load is no overload. */
function settingsOf(model) {
  return { SENTIMENT_MODEL_DIR: model, MAX_QUEUE_WAIT_MS: '30000', MODEL_DIR: model };
}

async function measureServer(name, plan, compare) {
  const { service, work, python, tei, model, seconds, warmup } = plan;
  const loads = plan.loads.map((each) => ({ ...each, requests: each.requestsOf(name) }));
  const server = await start(name, {
    service,
    request: loads[0].requests[0],
    isWhole: FIELD[service]?.isWhole,
    python,
    tei,
    env: model ? settingsOf(model) : {},
  });
  const { port, pid, coldStart } = server;
  try {
    const idle = usage(pid).rss;
    const answers = [];
    for (const { requests, compared } of loads) {
      const first = requests.slice(0, compare ? compared : 0);
      answers.push(await askAll({ port, requests: first, clients: 1 }));
    }
    const levels = [];
    for (const { load: named, requests, clients } of loads) {
      for (const count of clients) {
        const before = usage(pid).cpu;
        const result = await load({ port, requests, work, clients: count, seconds, warmup });
        const cpu = usage(pid).cpu - before;
        levels.push({
          ...(named ? { load: named } : {}),
          ...result,
          cpu_s_per_1000: (1000 * cpu) / result.answered,
        });
      }
    }
    const peak = usage(pid).peak;
    return { cold_start_s: coldStart, idle_mb: idle, peak_mb: peak, levels, answers };
  } finally {
    await server.stop();
  }
}

/** Bodies of answers, as the service of encoders compares them. */
function compareField({ peer, service }, ours, theirs) {
  const [own, others] = [ours, theirs].map((bodies) => bodies.map((body) => JSON.parse(body)));
  return FIELD[service].compare(own, others, { exact: !peer.endsWith('-int8'), peer });
}

/** The same label (or class), unless the two are tied, and nearly the same score. */
function compareAnswers({ peer }, ours, theirs) {
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
  return `agrees on ${ours.length} bodies, largest difference of a score ${worst.toFixed(4)}`;
}
