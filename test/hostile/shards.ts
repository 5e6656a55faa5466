// Indexes of shards, whose names are the file's word, and links, which lead out of the folder.
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {
  type Damage,
  deep,
  editJson,
  type HostileCase,
  type Json,
  replace,
  textCases,
} from './case';

const INDEX = 'model.safetensors.index.json';
const FIRST = 'model-00001-of-00002.safetensors';
const SECOND = 'model-00002-of-00002.safetensors';

const NAMED = /^model\.safetensors\.index\.json: weight_map: /;

/** All weights are said to lie in this file. */
const all = (name: Json) =>
  editJson(INDEX, ({ weight_map }) => {
    for (const key of Object.keys(weight_map)) weight_map[key] = name;
  });

/** Beside the model's folder: a file that nobody but the index speaks of. */
export const CANARY = 'canary.safetensors';

function outside(folder: string): string {
  const place = path.join(path.dirname(folder), CANARY);
  copyFileSync(path.join(folder, FIRST), place);
  return place;
}

const INDEXES: readonly Damage[] = [
  ['that names an absolute path', (folder) => all(outside(folder))(folder), NAMED],
  [
    'that names a path with ..',
    (folder) => {
      outside(folder);
      all(`../${CANARY}`)(folder);
    },
    NAMED,
  ],
  [
    'that names a path with .. further down',
    (folder) => {
      outside(folder);
      all(`./a/../../${CANARY}`)(folder);
    },
    NAMED,
  ],
  ['that names a path with a backslash', all(`..\\${CANARY}`), NAMED],
  [
    'that names a folder below',
    (folder) => {
      mkdirSync(path.join(folder, 'sub'));
      renameSync(path.join(folder, SECOND), path.join(folder, 'sub', SECOND));
      all(`sub/${SECOND}`)(folder);
    },
    NAMED,
  ],
  ['that names an address', all('https://example.org/model.safetensors'), NAMED],
  ['that names /etc/passwd', all('/etc/passwd'), NAMED],
  ['that names config.json', all('config.json'), NAMED],
  ['that names itself', all(INDEX), NAMED],
  ['that names ..', all('..'), NAMED],
  ['that names nothing', all(''), NAMED],
  ['that names a name with NUL', all('model\0.safetensors'), NAMED],
  ['that names a name of two lines', all('a\nb.safetensors'), NAMED],
  [
    'that names a name of 100,000 characters',
    all(`${'a'.repeat(100_000)}.safetensors`),
    /^(?!.{2000})/,
  ],
  ['that names numbers', all(1), /^model\.safetensors\.index\.json: weight_map/],
  ['that names a pickle', all('pytorch_model.bin'), NAMED],
  [
    'that names a shard that is not there',
    all('model-00003-of-00003.safetensors'),
    /^model-00003-of-00003\.safetensors: not found/,
  ],
  ['that names one of two', all(FIRST), /^model-00001-of-00002\.safetensors: .*missing/],
  [
    'that names a link to itself',
    (folder) => {
      symlinkSync('loop.safetensors', path.join(folder, 'loop.safetensors'));
      all('loop.safetensors')(folder);
    },
    /^loop\.safetensors: /,
  ],
  ['of an empty map', editJson(INDEX, () => ({ weight_map: {} })), NAMED],
  ['without a map', editJson(INDEX, () => ({})), /^model\.safetensors\.index\.json: weight_map: /],
  [
    'of a map that is a list',
    editJson(INDEX, () => ({ weight_map: [FIRST] })),
    /^model\.safetensors\.index\.json: weight_map/,
  ],
  ['that is no JSON', replace(INDEX, '{"weight_map"'), /^model\.safetensors\.index\.json: /],
  [
    '100,000 deep',
    replace(INDEX, `{"weight_map":${deep(100_000)}}`),
    /^model\.safetensors\.index\.json: /,
  ],
  [
    'of a million keys',
    replace(INDEX, `{"weight_map":{${`"k":"${FIRST}",`.repeat(1_000_000)}"k":"${FIRST}"}}`),
    /^model\.safetensors\.index\.json: /,
  ],
];

/** The file becomes a link to one of the same content outside. */
function linkedOut(name: string, to: (folder: string) => string) {
  return (folder: string): void => {
    const place = path.join(folder, name);
    copyFileSync(place, path.join(path.dirname(folder), CANARY));
    rmSync(place);
    symlinkSync(to(folder), place);
  };
}

const above = (): string => `../${CANARY}`;
const absolute = (folder: string): string => path.join(path.dirname(folder), CANARY);
const leadsOut = (name: string): RegExp =>
  new RegExp(`^${name}: is a link to a file outside the model folder`);

const LINKS: readonly Damage[] = [
  [
    'config.json that is a link out of the folder',
    linkedOut('config.json', above),
    leadsOut('config.json'),
  ],
  [
    'tokenizer.json that is a link out of the folder',
    linkedOut('tokenizer.json', above),
    leadsOut('tokenizer.json'),
  ],
  [
    'tokenizer_config.json that is an absolute link',
    linkedOut('tokenizer_config.json', absolute),
    leadsOut('tokenizer_config.json'),
  ],
  [
    'model.safetensors that is a link out of the folder',
    linkedOut('model.safetensors', above),
    leadsOut('model.safetensors'),
  ],
  [
    'model.safetensors that is an absolute link',
    linkedOut('model.safetensors', absolute),
    leadsOut('model.safetensors'),
  ],
  [
    'model.safetensors that is a link by way of another',
    (folder) => {
      linkedOut('model.safetensors', () => 'inner')(folder);
      symlinkSync(above(), path.join(folder, 'inner'));
    },
    leadsOut('model.safetensors'),
  ],
  [
    'config.json below a linked folder',
    (folder) => {
      const elsewhere = path.join(path.dirname(folder), 'elsewhere');
      mkdirSync(elsewhere);
      renameSync(path.join(folder, 'config.json'), path.join(elsewhere, 'config.json'));
      symlinkSync('../elsewhere', path.join(folder, '..data'));
      symlinkSync('..data/config.json', path.join(folder, 'config.json'));
    },
    leadsOut('config.json'),
  ],
  [
    'tokenizer.json that is a link to /dev/zero',
    linkedOut('tokenizer.json', () => '/dev/zero'),
    /^tokenizer\.json: /,
  ],
  [
    'special_tokens_map.json that is a link to /etc/passwd',
    (folder) => {
      symlinkSync('/etc/passwd', path.join(folder, 'special_tokens_map.json'));
    },
    leadsOut('special_tokens_map.json'),
  ],
  [
    'blobs folder that only looks like a cache',
    (folder) => {
      const blobs = path.join(path.dirname(folder), 'blobs');
      mkdirSync(blobs);
      writeFileSync(path.join(blobs, 'x'), readFileSync(path.join(folder, 'config.json')));
      rmSync(path.join(folder, 'config.json'));
      symlinkSync('../blobs/x', path.join(folder, 'config.json'));
    },
    leadsOut('config.json'),
  ],
];

export const SHARDS: readonly HostileCase[] = [
  ...textCases('roberta-vocab-json-sharded', [
    ...INDEXES.map(([name, make, error]): Damage => [`an index ${name}`, make, error]),
    ['a shard that is a link out of the folder', linkedOut(FIRST, above), leadsOut(FIRST)],
    ['a shard that is an absolute link', linkedOut(SECOND, absolute), leadsOut(SECOND)],
    [
      'one shard twice',
      (folder) => copyFileSync(path.join(folder, FIRST), path.join(folder, SECOND)),
      /^model-0000[12]-of-00002\.safetensors: .*: is duplicated/,
    ],
  ]),
  ...textCases(
    'bert-single-label',
    LINKS.map(([name, make, error]): Damage => [`a ${name}`, make, error]),
  ),
];
