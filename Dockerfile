# Build:      docker build -t libtorch-serve .
# Own model:  docker run -p 8000:8000 -v /path/to/model:/models/my-classifier:ro libtorch-serve serve /models/my-classifier
# Several:    docker run -p 8000:8000 -v /path/to/models:/models:ro libtorch-serve serve /models
# Demo:       docker run -p 8000:8000 libtorch-serve sentiment (the default), or eeg
# TorchServe archives (.mar) are unpacked in /tmp: with --read-only, add --tmpfs /tmp.
#
# Other package sources: --secret id=npmrc,src=.npmrc --secret id=pip.conf,src=pip.conf. The base images are arguments; the
# comment of each argument lists all that the build requires of the image.

# /usr/local as nodejs.org fills it: bin, include, lib, LICENSE.
ARG NODE_IMAGE=node:20.20.2-bookworm-slim
# Debian with cargo in its PATH.
ARG RUST_IMAGE=rust:1.95.0-slim-bookworm
# glibc and libstdc++ at least as new as those of RUST_IMAGE.
ARG RUNTIME_IMAGE=debian:bookworm-slim

FROM ${NODE_IMAGE} AS node

FROM ${RUST_IMAGE} AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ cmake make python3-pip ca-certificates \
 && rm -rf /var/lib/apt/lists/*
COPY --from=node /usr/local/ /usr/local/
# Node's headers are there already: cmake-js would fetch them.
ENV npm_config_nodedir=/usr/local XDG_CACHE_HOME=/cache
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm ci
COPY . .
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc \
    --mount=type=secret,id=pip.conf,target=/etc/pip.conf \
    npm run build && npm run licenses && npm run sbom
# What a running service reads, and the licences. The libraries go beside the addon, which looks there first;
# nothing that is loaded of them changes when they lose their symbol tables, a fifth of LibTorch.
RUN npm uninstall --no-save --omit=dev cmake-js node-addon-api undici proxy-from-env \
 && find dist node_modules -type f -regex '.*\.\([cm]?ts\|map\|h\|tsbuildinfo\)' -delete \
 && mkdir -p /runtime/app/build/native/Release /runtime/usr/local/bin /runtime/usr/local/share/doc/node \
 && cp build/native/Release/*.node /cache/libtorch-serve/*/lib/* /runtime/app/build/native/Release/ \
 && strip --strip-unneeded /runtime/app/build/native/Release/libtorch_cpu.so \
                           /runtime/app/build/native/Release/libc10.so \
 && cp -r package.json dist models node_modules LICENSE build/native/Release/THIRD_PARTY_LICENSES \
          build/sbom.cdx.json /runtime/app/ \
 && cp /usr/local/bin/node /runtime/usr/local/bin/ \
 && cp /usr/local/LICENSE /runtime/usr/local/share/doc/node/

FROM ${RUNTIME_IMAGE}
COPY --from=build /runtime/ /
WORKDIR /app
ENV NODE_ENV=production EEG_MODEL_PATH=/app/models/eeg/eeg_model.pt
# As a number, which Kubernetes can tell from root.
USER 1000:1000
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "const { env } = process; require(env.TLS_CERT_FILE ? 'https' : 'http').get({ host: '127.0.0.1', port: env.PORT || 8000, path: '/health', rejectUnauthorized: false }, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["sentiment"]
