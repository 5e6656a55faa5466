// For files of modules, of which no code is built: `go mod tidy` would take them out.
module libtorch-serve/deploy-definitions

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.85.0
