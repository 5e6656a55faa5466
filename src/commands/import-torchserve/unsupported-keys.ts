const ONE_COPY = 'each model is in memory once, and all models share the workers (WORKERS)';
const NO_PYTHON = 'no Python runs here';
const PEM = 'set TLS_CERT_FILE and TLS_KEY_FILE to PEM files';
const LISTED = 'models are folders in MODELS_DIR; the server downloads nothing';

/** Unsupported keys of config.properties, with the reason. */
export const UNSUPPORTED_KEYS: Readonly<Record<string, string>> = {
  allowed_urls: LISTED,
  async_logging: 'the server logs one JSON line per request to standard output',
  blacklist_env_vars: NO_PYTHON,
  cors_allowed_headers: 'the headers that web pages may send are fixed',
  cors_allowed_methods: 'web pages may use the methods of each route',
  cpu_launcher_args: NO_PYTHON,
  cpu_launcher_enable: 'the number of threads follows from the available cores',
  decode_input_request: 'the Content-Type of a request specifies the format of its body',
  default_service_handler: NO_PYTHON,
  default_workers_per_model: ONE_COPY,
  disable_system_metrics: '/metrics has a fixed set of metrics',
  disable_token_authorization: 'API_KEYS_FILE enables authentication',
  enable_envvars_config: 'each setting is also an environment variable',
  enable_grpc_ssl: 'TLS_CERT_FILE also applies to gRPC',
  enable_metrics_api: '/metrics is always available',
  enable_model_api: 'MANAGEMENT_PORT enables the management API',
  grpc_inference_address:
    "TorchServe's gRPC API is not supported; GRPC_PORT opens the Open Inference Protocol",
  grpc_inference_port:
    "TorchServe's gRPC API is not supported; GRPC_PORT opens the Open Inference Protocol",
  grpc_management_address: "TorchServe's gRPC API is not supported",
  grpc_management_port: "TorchServe's gRPC API is not supported",
  initial_worker_port: ONE_COPY,
  install_py_dep_per_model: NO_PYTHON,
  ipex_enable: 'kernels are selected by the instruction sets of the processor',
  ipex_gpu_enable: 'inference is on the processor',
  keystore: PEM,
  keystore_pass: PEM,
  keystore_type: PEM,
  limit_max_image_pixels: 'no task accepts images',
  max_response_size: 'RESPONSE_LIMIT limits the size of a response',
  metrics_address: 'metrics are at /metrics of inference_address',
  metrics_config: '/metrics has a fixed set of metrics',
  metrics_format: 'metrics use the Prometheus format',
  metrics_mode: 'metrics use the Prometheus format',
  model_api_enabled: 'MANAGEMENT_PORT enables the management API',
  model_config: 'settings of a model belong in the model.json of its folder',
  model_snapshot: 'the next start loads the folders of MODELS_DIR',
  netty_client_threads: 'requests are not forwarded to other processes',
  number_of_gpu: 'inference is on the processor',
  number_of_netty_threads: 'one event loop is enough for most; start more replicas otherwise',
  prefer_direct_buffer: 'belongs to the JVM',
  service_envelope: 'each protocol has its own routes',
  startup_timeout: 'INFERENCE_TIMEOUT_MS limits the warm-up inference when a model is loaded',
  system_metrics_cmd: NO_PYTHON,
  token_expiration_min: 'keys do not expire: change API_KEYS_FILE, then send SIGHUP',
  tsflow_snapshot: 'the next start loads the folders of MODELS_DIR',
  unregister_model_timeout: 'an unloaded model completes its accepted requests',
  use_env_allowed_urls: LISTED,
  use_native_io: 'belongs to the JVM',
  vmargs: 'belongs to the JVM',
};

/** Unsupported keys of a model version in `models`, with the reason. */
export const UNSUPPORTED_MODEL_KEYS: Readonly<Record<string, string>> = {
  deviceIds: 'inference is on the processor',
  deviceType: 'inference is on the processor',
  handler: NO_PYTHON,
  maxWorkers: ONE_COPY,
  minWorkers: ONE_COPY,
  parallelType: 'inference is on the processor',
  startupTimeout: 'INFERENCE_TIMEOUT_MS limits the warm-up inference when a model is loaded',
};
