/** Pages of which no command is run, and why. */
export const PAGES_NOT_RUN: Readonly<Record<string, string>> = {
  'docs/reference/js-api/ai-sdk.md': 'needs the package ai; test/clients/integrations runs it',
  'docs/reference/js-api/langchain.md':
    'needs a server of an embedding model; test/clients/integrations runs it',
  'examples/retrieval/README.md':
    'needs the package ai; test/clients/integrations runs the programs',
  'bench/README.md': 'benchmarks take minutes, and set up what they compare with',
  'docs/project/evidence/engines.md': 'a benchmark of minutes, which sets up what it compares with',
  'docs/project/evidence/http.md': 'benchmarks of minutes, which set up what they compare with',
  'docs/guides/export.md': 'needs a Python with torch and transformers',
  'models/eeg/README.md': 'trains for hours, on recordings that are not in the repository',
  'models/sentiment/README.md': 'Python with transformers',
  'models/training/sentiment/README.md':
    'trains for hours, on texts that are not in the repository',
};

const REPLACES = 'replaces files that other tests use at the same time';
const DOCKER = 'needs Docker';
const HUB = 'downloads a model of the Hub';
const NO_MODEL =
  'needs a model that is not in the repository: test/golden and test/http compare such models';
const KUBERNETES = 'needs a cluster';
const AMPLIFIERS =
  'test/clients/amplifiers.test.ts runs it, test/http/serial-port.test.ts what is in Node';
const RAY = 'test/soak/ray.test.ts runs it';
const SYSTEMD = 'installs into this machine: test/lifecycle/systemd.test.ts looks at the unit';
const NGINX = 'installs into this machine: test/http/nginx.test.ts runs the file';
const TRANSFORMERS = 'needs a Python with torch and transformers';
const MEASURES = 'a benchmark takes minutes';
const FUZZES = 'compiles fuzzers with clang; what they have kept runs in the C++ and Rust suites';

/** Commands that are not run, as they stand in a page (without the comment behind them), and why. */
export const COMMANDS_NOT_RUN: Readonly<Record<string, string>> = {
  'curl -s localhost:8000/models/bge-m3/encode -H \'content-type: application/json\' -d \'{"texts": ["A warm film."], "return_sparse": true}\'':
    NO_MODEL,
  'npx libtorch-serve serve my-models/gliner': NO_MODEL,
  'npx libtorch-serve serve my-models/laya': NO_MODEL,
  [[
    "curl -s localhost:8000/tag -H 'content-type: application/json' \\",
    '  -d \'{"text": "Ada Lovelace lived in London.", "labels": ["person", "city"]}\'',
  ].join('\n')]: NO_MODEL,
  [[
    "curl -s localhost:8000/decide -H 'content-type: application/json' \\",
    '  -d \'{"state": "My parcel arrived broken.", "questions": [{"type": "choice", "options": ["refund", "exchange"]}]}\'',
  ].join('\n')]: NO_MODEL,
  'git clone ADDRESS libtorch-serve && cd libtorch-serve': 'the checkout is there',
  'npm ci': REPLACES,
  'npm ci && npm start': `${REPLACES}; docs/guides/install.md has both, and npm start is run there`,
  'npm run build': REPLACES,
  'npm run format': REPLACES,
  'npm test': 'is what runs this',
  'npm run check': 'is run beside the tests',
  'npm install ./libtorch-serve-0.1.0.tgz ./libtorch-serve-linux-x64-0.1.0.tgz':
    'npm run test:install packs and installs them',
  [[
    'npm install ./libtorch-serve-0.1.0.tgz ./libtorch-serve-linux-x64-0.1.0.tgz \\',
    '    && npx libtorch-serve serve /path/to/model',
  ].join('\n')]: 'npm run test:install packs and installs them',
  'npx libtorch-serve import-torchserve config.properties --output imported':
    'test/lifecycle/import-torchserve.test.ts runs it, on files of TorchServe',
  'node --env-file=imported/libtorch-serve.env node_modules/.bin/libtorch-serve models':
    'needs a model_store of TorchServe',
  'curl localhost:8080/predictions/my-model -T text.txt': 'test/http/torchserve.test.ts asks it',
  'pip install --require-hashes -r examples/ray/requirements.txt': RAY,
  'pip install --require-hashes -r examples/amplifiers/python/lsl-requirements.txt': AMPLIFIERS,
  'python examples/amplifiers/python/outlet.py recording.csv --rate 256 &': AMPLIFIERS,
  'python examples/amplifiers/python/lsl.py ws://localhost:8001/stream --channel T3 --step 64':
    AMPLIFIERS,
  'pip install --require-hashes -r examples/amplifiers/python/brainflow-requirements.txt':
    AMPLIFIERS,
  'python examples/amplifiers/python/board.py ws://localhost:8001/stream --seconds 10': AMPLIFIERS,
  'node examples/amplifiers/node/serial.mjs http://localhost:8001 /dev/ttyUSB0 --rate 256 --baud 115200':
    AMPLIFIERS,
  'RAY_ADDRESS=auto python examples/ray/classify.py http://balancer s3://bucket/texts s3://bucket/labels --actors 8':
    'needs a cluster of Ray',
  'python examples/ray/demo.py': RAY,
  'npm ci --prefix examples/retrieval/store && node examples/retrieval/retrieve.mjs':
    'test/lifecycle/package.test.ts runs it, as installed',
  [[
    'node examples/retrieval/retrieve.mjs --embedder /path/to/embedder --reranker /path/to/reranker \\',
    '    --passages mine.txt --store mine.db "How do bees find their way home?" "Why does dough rise?"',
  ].join('\n')]: 'test/lifecycle/package.test.ts runs it, as installed',
  'python scripts/export.py models/sentiment --output /tmp/exported': TRANSFORMERS,
  'node bench/programs.mjs texts models/sentiment /tmp/exported --rounds 5':
    'measures what export.py wrote, which is not run',
  'python bench/families/random_models.py models/sentiment build/bench/shapes/bert-base':
    TRANSFORMERS,
  'npm run bench -- --model build/bench/shapes/bert-base --peers fastapi --clients 1,64': MEASURES,
  'npm run parity -- /path/to/model': TRANSFORMERS,
  'npm run parity -- /path/to/model --texts mine.txt': TRANSFORMERS,
  'docker build -t libtorch-serve .': DOCKER,
  'docker build -t libtorch-serve . && docker run -p 8000:8000 libtorch-serve': DOCKER,
  'docker network create --internal models': DOCKER,
  'docker run -p 8000:8000 -v /path/to/model:/model:ro libtorch-serve serve /model': DOCKER,
  'docker run -p 8000:8000 -v /path/to/model:/models/my-classifier:ro libtorch-serve serve /models/my-classifier':
    DOCKER,
  [[
    'docker run --read-only --cap-drop=ALL --security-opt=no-new-privileges --memory=2g --cpus=2 --pids-limit=256 \\',
    '  --ulimit core=0 -p 8000:8000 -v /path/to/model:/models/my-classifier:ro libtorch-serve serve /models/my-classifier',
  ].join('\n')]: DOCKER,
  'hf download sentence-transformers/all-MiniLM-L6-v2 --local-dir all-MiniLM-L6-v2': HUB,
  'hf download distilbert/distilbert-base-uncased-finetuned-sst-2-english --local-dir my-classifier':
    HUB,
  'hf download MoritzLaurer/deberta-v3-base-zeroshot-v2.0 --local-dir nli': HUB,
  'pip install gliner': 'needs a Python with torch; test/golden compares what gliner saves',
  'npx libtorch-serve install': 'downloads LibTorch: npm run test:install runs it',
  'npx libtorch-serve inspect model_store/my-model.mar':
    'needs an archive: test/lifecycle/inspect.test.ts',
  'pip install torch transformers sentence-transformers': TRANSFORMERS,
  'python scripts/export.py path/to/classifier --output served-model': TRANSFORMERS,
  'npx libtorch-serve serve my-models/reranker': NO_MODEL,
  'npx libtorch-serve serve my-models/ner': NO_MODEL,
  'npx libtorch-serve serve my-models/nli': NO_MODEL,
  'npx libtorch-serve serve my-models/splade my-models/colbert': NO_MODEL,
  [[
    `curl -s localhost:8000/v1/rerank -H 'content-type: application/json' \\`,
    `    -d '{"query": "How long is the film?", "documents": ["Two hours.", "A quiet marvel."], "return_documents": true}'`,
  ].join('\n')]: NO_MODEL,
  [[
    `curl -s localhost:8000/tag -H 'content-type: application/json' -d '{"text": "Ada Lovelace lived in London."}'`,
  ].join('')]: NO_MODEL,
  [[
    `curl -s localhost:8000/zero-shot -H 'content-type: application/json' \\`,
    `    -d '{"text": "The film is a quiet marvel.", "candidate_labels": ["sports", "cinema"]}'`,
  ].join('\n')]: NO_MODEL,
  [[
    `curl -s localhost:8000/decide -H 'content-type: application/json' \\`,
    `    -d '{"state": "The parcel arrived broken.",`,
    `         "questions": [{"type": "choice", "name": "topic", "options": ["delivery", "price"]}]}'`,
  ].join('\n')]: NO_MODEL,
  [[
    `curl -s localhost:8000/models/splade/embed_sparse -H 'content-type: application/json' -d '{"inputs": "A warm film."}'`,
  ].join('')]: NO_MODEL,
  [[
    `curl -s localhost:8000/models/colbert/embed_all -H 'content-type: application/json' -d '{"inputs": "A warm film.", "prompt_name": "document"}'`,
  ].join('')]: NO_MODEL,
  [[
    'docker run --read-only --cap-drop=ALL --security-opt=no-new-privileges --memory=2g --cpus=2 --pids-limit=256 \\',
    '  --ulimit core=0 --network=models -v /path/to/model:/model:ro libtorch-serve serve /model',
  ].join('\n')]: DOCKER,
  'GRAFANA_PASSWORD=… MODELS_DIR=/srv/models docker compose -f deploy/compose.yaml --profile models up -d':
    DOCKER,
  'kubectl apply -k deploy/kubernetes/overlays/models': KUBERNETES,
  'kubectl apply -k deploy/kubernetes/overlays/my-classifier': KUBERNETES,
  'kubectl apply -k deploy/kubernetes/kserve': KUBERNETES,
  'kubectl apply -f copy.yaml && kubectl wait --for=condition=Ready pod/copy-models': KUBERNETES,
  'kubectl cp my-classifier copy-models:/models/.my-classifier': KUBERNETES,
  'kubectl exec copy-models -- mv /models/.my-classifier /models/my-classifier': KUBERNETES,
  'kubectl delete pod copy-models': KUBERNETES,
  'kubectl apply -f rule.yaml': KUBERNETES,
  'mkdir -p /etc/libtorch-serve': SYSTEMD,
  'cp deploy/systemd/libtorch-serve@.service /etc/systemd/system/': SYSTEMD,
  'systemctl daemon-reload': SYSTEMD,
  'systemctl enable --now libtorch-serve@my-classifier': SYSTEMD,
  'cp deploy/nginx/libtorch-serve.conf /etc/nginx/conf.d/': NGINX,
  'nginx -t && nginx -s reload': NGINX,
  'npm run test:deploy': 'builds programs of Go for minutes',
  'kubectl rollout status deployment/libtorch-serve-models': KUBERNETES,
  'kubectl rollout undo deployment/libtorch-serve-models': KUBERNETES,
  'node bench/classify.mjs --rows 4096': MEASURES,
  'node bench/classify.mjs --service eeg --rows 16384': MEASURES,
  'node bench/classify.mjs --command embed --model /path/to/model --input texts.jsonl --rows 4096 --output out.npy':
    MEASURES,
  'node scripts/fuzz/parsers.mjs': FUZZES,
  'node scripts/fuzz/parsers.mjs --seconds=3600 pickle': FUZZES,
  'node scripts/fuzz/parsers.mjs --seconds=0': FUZZES,
};
