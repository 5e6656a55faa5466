import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const FOLDER = path.join(ROOT, 'build/fuzz');

const FINDS = path.join(FOLDER, 'finds');

/** No target comes near as many in a second: the end where a clock stands still. */
const MOST_RUNS_A_SECOND = 50_000;

/** What one input may take: an endless loop is found, the delays of a loaded machine are not. */
const LIMITS = ['-timeout=60', '-rss_limit_mb=1024', '-report_slow_units=10'];

const SANITIZERS = {
  ASAN_OPTIONS: 'quarantine_size_mb=16:malloc_context_size=4:detect_leaks=1',
  UBSAN_OPTIONS: 'print_stacktrace=1',
  LSAN_OPTIONS: `suppressions=${path.join(ROOT, 'scripts/sanitize/leaks.txt')}:print_suppressions=0`,
};

/**
 * Runs one program of libFuzzer's from its kept inputs on; what it learns stays in build/fuzz. The
 * path of an input that fails is printed.
 *
 * @param target {name, program, corpus, dictionary?}: corpus is the folder of the kept inputs
 * @param seconds how long; 0 only runs the kept inputs
 * @returns {passed, failed}: one of them is 1
 */
export function fuzz({ name, program, corpus, dictionary }, seconds) {
  const learned = path.join(FOLDER, 'corpus', name);
  fs.mkdirSync(learned, { recursive: true });
  fs.mkdirSync(FINDS, { recursive: true });
  const bounds =
    seconds > 0
      ? ['-seed=1', `-max_total_time=${seconds}`, `-runs=${seconds * MOST_RUNS_A_SECOND}`]
      : ['-runs=0'];
  const result = spawnSync(
    program,
    [
      ...bounds,
      ...LIMITS,
      '-max_len=16384',
      '-print_final_stats=1',
      `-artifact_prefix=${path.join(FINDS, `${name}-`)}`,
      ...(dictionary ? [`-dict=${dictionary}`] : []),
      learned,
      corpus,
    ],
    { encoding: 'utf8', maxBuffer: 1 << 28, env: { ...process.env, ...SANITIZERS } },
  );
  if (result.error) throw result.error;
  const failed = result.status !== 0;
  console.log(`${name}: ${summary(result.stderr)}`);
  if (failed) console.error(result.stderr.slice(-6000));
  return { passed: failed ? 0 : 1, failed: failed ? 1 : 0 };
}

/** "12345 runs, 678 edges, 1234 features, 56 inputs/78Kb" */
function summary(output) {
  const runs = /stat::number_of_executed_units:\s*(\d+)/.exec(output)?.[1] ?? '?';
  const states = [...output.matchAll(/cov: (\d+) ft: (\d+) corp: (\S+)/g)];
  const [, edges, features, inputs] = states.at(-1) ?? [];
  const find = /Test unit written to (\S+)/.exec(output)?.[1];
  const counts = `${runs} runs, ${edges} edges, ${features} features, ${inputs} inputs`;
  return find ? `${counts}; FAILS: ${find}` : counts;
}
