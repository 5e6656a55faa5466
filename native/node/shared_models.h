// Engines that one JavaScript environment has loaded, and that others of the process use, too.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/backends.h"
#include "clients.h"
#include "scheduler/engine.h"

namespace node {

/// An engine, and what is known of its model.
struct Model {
  std::shared_ptr<scheduler::Engine> engine;  ///< null before it is loaded and once it is closed
  scheduler::Description description;
  backend::ModelReport report;
  /// Of a text model of ours. It keeps the backend, so it goes when the engine does.
  std::shared_ptr<const backend::Vocabulary> vocabulary;
  size_t file_bytes = 0;  ///< of its weights or its program
  /// The way of the machine's threads to the environments, which may end before they do.
  std::shared_ptr<Clients> clients = std::make_shared<Clients>();
};

/// A number by which every environment of this process finds it until its engine is closed. The
/// engine itself is not kept. Any thread.
uint64_t share(const Model& model);

/// Without an engine: there is none by this number, or not any more. Any thread.
Model find_shared(uint64_t number);

/// The one machine of this process, as long as an engine holds it. Any thread.
std::shared_ptr<scheduler::Machine> machine_of_process();

/// The one cache of answers of this process, as long as an engine holds it, of the size that was
/// asked for first; null: of none. Any thread.
std::shared_ptr<scheduler::ResultCache> results_of_process(size_t max_bytes);

}  // namespace node
