import { counter, type Family, gauge } from './family';
import { Histogram, histogram } from './histogram';

/** How often the event loop is asked how late it is, in ms. */
const LAG_INTERVAL_MS = 50;
/** Seconds. Node's timers are exact to a millisecond. */
const LAG_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** The event loop, and its heap. */
export function loopFamilies(): readonly Family[] {
  const lag = measureLag();
  return [
    histogram(
      'libtorch_serve_event_loop_lag_seconds',
      `How late the event loop got to a timer, asked every ${LAG_INTERVAL_MS} ms.`,
      () => [lag],
    ),
    gauge('libtorch_serve_heap_used_bytes', 'JavaScript objects.', () => {
      return process.memoryUsage().heapUsed;
    }),
    gauge('libtorch_serve_heap_size_bytes', 'Memory that V8 has for JavaScript objects.', () => {
      return process.memoryUsage().heapTotal;
    }),
  ];
}

/** The process as the operating system sees it, under Prometheus's own names. */
export function processFamilies(): readonly Family[] {
  const startedAt = Date.now() / 1000 - process.uptime();
  return [
    gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss()),
    gauge('process_start_time_seconds', 'Start of the process, since the Unix epoch.', () => {
      return startedAt;
    }),
    counter('process_cpu_seconds_total', 'User and system time of all threads.', () => {
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
