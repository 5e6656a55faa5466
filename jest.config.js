const { availableParallelism } = require('node:os');

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

/** Folders of test/; scripts/test.mjs says what of them `npm test` runs. */
const FOLDERS = [
  ...['unit', 'golden', 'http', 'lifecycle', 'browser', 'docs', 'classify', 'hostile', 'clients'],
  ...['docs-commands', 'supply-chain', 'fuzz', 'soak'],
];

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: FOLDERS.map((folder) => `<rootDir>/test/${folder}`),
  testMatch: ['**/*.test.ts'],
  transform: { '^.+\\.ts$': typescript, [`/node_modules/(?:${ES_MODULES})/.+\\.js$`]: typescript },
  transformIgnorePatterns: [`/node_modules/(?!(?:${ES_MODULES})/)`],
  // Half of the time of a test goes to waiting: for a service to start, for a deadline.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  testTimeout: 120_000,
};
