import { counter, type Family, gauge } from './family';
import { Histogram, histogram } from './histogram';

/** Interval of the timer that measures the event loop lag, in ms. */
const LAG_INTERVAL_MS = 50;
/** Bucket bounds in seconds. Timers of Node have a resolution of 1 ms. */
const LAG_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Event loop lag and heap size, and the process metrics under the names that Prometheus defines. */
export function processFamilies(): readonly Family[] {
  const lag = measureLag();
  const startedAt = Date.now() / 1000 - process.uptime();
  return [
    histogram(
      'libtorch_serve_event_loop_lag_seconds',
      `Delay of a timer of ${LAG_INTERVAL_MS} ms on the event loop.`,
      () => [lag],
    ),
    gauge('libtorch_serve_heap_used_bytes', 'Memory of JavaScript objects.', () => {
      return process.memoryUsage().heapUsed;
    }),
    gauge('libtorch_serve_heap_size_bytes', 'Memory that V8 has reserved for objects.', () => {
      return process.memoryUsage().heapTotal;
    }),
    gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss()),
    gauge('process_start_time_seconds', 'Start of the process, in Unix time.', () => startedAt),
    counter('process_cpu_seconds_total', 'User and system CPU time of all threads.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
  ];
}

function measureLag(): Histogram {
  const lag = new Histogram(LAG_BOUNDS);
  let last = performance.now();
  const measure = (): void => {
    const now = performance.now();
    lag.observe(Math.max(0, now - last - LAG_INTERVAL_MS) / 1000);
    last = now;
  };
  setInterval(measure, LAG_INTERVAL_MS).unref();
  return lag;
}
