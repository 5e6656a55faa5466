const typescript = [
  '@swc/jest',
  {
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  },
];

/** Of the packages that tests load, these are ES modules, which Jest does not run. */
const ES_MODULES = 'edfjs|marked|hyparquet|hyparquet-writer|hyparquet-compressors|hysnappy';

/** Folders of test/. */
const SUITES = [
  ...['unit', 'http', 'lifecycle', 'browser', 'docs', 'soak', 'fuzz', 'hostile', 'clients'],
  'classify',
];

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: SUITES.map((folder) => `<rootDir>/test/${folder}`),
  testMatch: ['**/*.test.ts'],
  transform: { '^.+\\.ts$': typescript, [`/node_modules/(?:${ES_MODULES})/.+\\.js$`]: typescript },
  transformIgnorePatterns: [`/node_modules/(?!(?:${ES_MODULES})/)`],
  // The suites in test/http and test/lifecycle start real services; two of them at a time leave
  // each enough of a small machine to answer in time.
  maxWorkers: 2,
  testTimeout: 120_000,
};
