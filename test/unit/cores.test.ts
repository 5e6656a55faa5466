import os from 'node:os';
import { countAvailableCores, limitCores, readQuotas } from '../../src/settings/environment';

function quotas(files: Readonly<Record<string, string>>): readonly number[] {
  return readQuotas((file) => files[file] ?? null);
}

describe('readQuotas', () => {
  it('reads cpu.max of version 2, of every group up to the root', () => {
    expect(
      quotas({
        '/proc/self/cgroup': '0::/a/b\n',
        '/sys/fs/cgroup/a/b/cpu.max': '150000 100000\n',
        '/sys/fs/cgroup/a/cpu.max': 'max 100000\n',
        '/sys/fs/cgroup/cpu.max': '400000 100000\n',
      }),
    ).toEqual([1.5, 4]);
  });

  it('reads what a container sees of version 2', () => {
    const files = { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '200000 100000\n' };
    expect(quotas(files)).toEqual([2]);
  });

  it('reads the quota of version 1', () => {
    expect(
      quotas({
        '/proc/self/cgroup': '5:memory:/a\n4:cpu,cpuacct:/a\n',
        '/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us': '250000\n',
        '/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us': '100000\n',
        '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us': '-1\n',
        '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us': '100000\n',
      }),
    ).toEqual([2.5]);
  });

  it('finds none where there is no control group', () => {
    expect(quotas({})).toEqual([]);
    expect(quotas({ '/proc/self/cgroup': '0::/a\n' })).toEqual([]);
  });
});

describe('coresWithin', () => {
  it.each([
    { mask: 8, quotas: [], cores: 8 },
    { mask: 8, quotas: [0.5], cores: 1 },
    { mask: 8, quotas: [1], cores: 1 },
    { mask: 8, quotas: [4, 1.5], cores: 2 },
    { mask: 2, quotas: [2.5], cores: 2 },
  ])('mask $mask, quotas $quotas: $cores', ({ mask, quotas, cores }) => {
    expect(limitCores(mask, quotas)).toBe(cores);
  });
});

describe('countAvailableCores', () => {
  it('is at least 1 and at most what the scheduler gives', () => {
    const cores = countAvailableCores();
    expect(Number.isInteger(cores)).toBe(true);
    expect(cores).toBeGreaterThanOrEqual(1);
    expect(cores).toBeLessThanOrEqual(os.availableParallelism());
  });
});
