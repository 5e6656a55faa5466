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
  roots: ['unit', 'http', 'clients', 'lifecycle', 'browser', 'soak', 'fuzz', 'hostile'].map(
    (folder) => `<rootDir>/test/${folder}`,
  ),
  testMatch: ['**/*.test.ts'],
  // Of the packages that tests load, edfjs alone is an ES module, which Jest does not run.
  transform: { '^.+\\.ts$': typescript, '/node_modules/edfjs/.+\\.js$': typescript },
  transformIgnorePatterns: ['/node_modules/(?!edfjs/)'],
  // The suites in test/http and test/lifecycle start real services; two of them at a time leave
  // each enough of a small machine to answer in time.
  maxWorkers: 2,
  testTimeout: 60_000,
};
