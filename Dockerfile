# Sentiment:  docker build -t libtorch-serve . && docker run -p 8000:8000 libtorch-serve
# EEG:        docker run -p 8000:8000 libtorch-serve eeg
# Own model:  docker run -p 8000:8000 -v /path/to/model:/model:ro -e SENTIMENT_MODEL_DIR=/model libtorch-serve

FROM rust:1.95.0-slim-bookworm AS rust

FROM node:20.20.2-bookworm-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ cmake make ca-certificates \
 && rm -rf /var/lib/apt/lists/*
COPY --from=rust /usr/local/rustup /usr/local/rustup
COPY --from=rust /usr/local/cargo /usr/local/cargo
ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:$PATH
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
ENV XDG_CACHE_HOME=/cache
# The libraries go beside the addon, which looks there first.
RUN npm run build && npm run licenses && npm run sbom \
 && mkdir -p /runtime/build/native/Release \
 && cp build/native/Release/*.node /cache/libtorch-serve/*/lib/* /runtime/build/native/Release/ \
 && cp LICENSE build/native/Release/THIRD_PARTY_LICENSES build/sbom.cdx.json /runtime/ \
 && npm prune --omit=dev \
 && cp -r package.json dist models node_modules /runtime/

FROM node:20.20.2-bookworm-slim
WORKDIR /app
COPY --from=build /runtime ./
ENV NODE_ENV=production EEG_MODEL_PATH=/app/models/eeg/eeg_model.pt
USER node
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "const { env } = process; require(env.TLS_CERT_FILE ? 'https' : 'http').get({ host: '127.0.0.1', port: env.PORT || 8000, path: '/health', rejectUnauthorized: false }, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["sentiment"]
