import { readMaxDescriptors } from '../../src/settings/environment';

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max processes             95971                95971                processes
Max open files            1024                 524288               files
`;

it('reads the soft limit, where there is one', () => {
  expect(readMaxDescriptors(() => LIMITS)).toBe(1024);
  const unlimited = LIMITS.replace('1024  ', 'unlimited');
  expect(readMaxDescriptors(() => unlimited)).toBe(Number.MAX_SAFE_INTEGER);
  expect(readMaxDescriptors(() => '')).toBe(10_240);
  expect(readMaxDescriptors(() => null)).toBe(10_240);
});

it('is a number of this machine', () => {
  expect(readMaxDescriptors()).toBeGreaterThan(64);
});
