/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test/unit', '<rootDir>/test/http', '<rootDir>/test/lifecycle'],
  testMatch: ['**/*.test.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  // The suites in test/http and test/lifecycle start real services; two of them at a time leave
  // each enough of a small machine to answer in time.
  maxWorkers: 2,
  testTimeout: 60_000,
};
