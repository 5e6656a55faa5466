// A load that may never end.
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "arguments.h"
#include "shared_models.h"

namespace node {

/// Loads a model and starts its engine on a thread of its own. A model may not come back from being
/// tried; then, or when it is cancelled, the thread is detached.
class Loading : public std::enable_shared_from_this<Loading> {
 public:
  explicit Loading(LoadArguments arguments) : arguments_(std::move(arguments)) {}

  /// Loads until that ends, or is given up. Throws what it threw, backend::LoadError, or
  /// std::system_error where no thread could be had. Once.
  Model run();

  /// Makes run() return soon. Any thread.
  void cancel();

 private:
  Model load_model() const;
  void load() noexcept;

  const LoadArguments arguments_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Model loaded_;
  std::exception_ptr error_;
  bool ended_ = false;
  bool cancelled_ = false;
  bool given_up_ = false;  ///< the engine, should there be one yet, is nobody's
  std::thread thread_;
};

}  // namespace node
