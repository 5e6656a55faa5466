const typescript = [
  '@swc/jest',
  {
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  },
];

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['unit', 'http', 'lifecycle', 'browser', 'docs', 'soak', 'fuzz', 'hostile', 'clients'].map(
    (folder) => `<rootDir>/test/${folder}`,
  ),
  testMatch: ['**/*.test.ts'],
  // Of the packages that tests load, these are ES modules, which Jest does not run.
  transform: { '^.+\\.ts$': typescript, '/node_modules/(edfjs|marked)/.+\\.js$': typescript },
  transformIgnorePatterns: ['/node_modules/(?!(edfjs|marked)/)'],
  // The suites in test/http and test/lifecycle start real services; two of them at a time leave
  // each enough of a small machine to answer in time.
  maxWorkers: 2,
  testTimeout: 60_000,
};
