// swc: ts-jest and typescript-eslint need the compiler API that TypeScript 7 no longer has. Biome lints and formats.
const typescript = [
  '@swc/jest',
  {
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  },
];

/** Of the packages that tests load, these are ES modules, which Jest does not run. */
const ES_MODULES = 'marked|hyparquet|hyparquet-writer|hyparquet-compressors|hysnappy';

/** Folders of test/; scripts/test.mjs says which of them `npm test` runs. */
const FOLDERS = [
  'unit',
  'golden',
  'http',
  'lifecycle',
  'browser',
  'docs',
  'hostile',
  'clients',
  'classify',
];
const LONG_FOLDERS = ['docs-commands', 'supply-chain', 'fuzz', 'soak'];

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: [...FOLDERS, ...LONG_FOLDERS].map((folder) => `<rootDir>/test/${folder}`),
  testMatch: ['**/*.test.ts'],
  transform: { '^.+\\.ts$': typescript, [`/node_modules/(?:${ES_MODULES})/.+\\.js$`]: typescript },
  transformIgnorePatterns: [`/node_modules/(?!(?:${ES_MODULES})/)`],
  // Most tests wait for a service of their own, which has a core's worth of work.
  maxWorkers: '100%',
  testTimeout: 120_000,
};
