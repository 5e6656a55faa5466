import { redactPaths } from '../../src/lib/redact-paths';

it.each([
  ['/srv/models/films/config.json: not found', 'config.json: not found'],
  ["cannot open '/srv/models/films/config.json'", "cannot open 'config.json'"],
  ['path=/srv/models/films: not found', 'path=films: not found'],
  // A relative path tells nothing of the machine.
  ['see docs/start/from-torchserve.md', 'see docs/start/from-torchserve.md'],
  ['a line\nof several', 'a line'],
])('%j', (message, expected) => {
  expect(redactPaths(message)).toBe(expected);
});
