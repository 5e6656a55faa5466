// Weights of a checkpoint by scoped name and expected shape.
#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backends.h"
#include "checkpoint/checkpoint.h"
#include "runtime/content_hash.h"

namespace backend {

/// Factors of a LoRA update: of a linear layer y += up (down x), of an embedding table
/// y += up down[id].
struct LoraFactors {
  at::Tensor down;  ///< of a linear layer: float32 [rank, in]; of a table: [rows, rank], any type
  at::Tensor up;    ///< float32 [out, rank], multiplied by the scale
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<int64_t> task{};  ///< inputs that the update applies to; empty: all inputs
};

/// A view of a checkpoint under a prefix. Copies share the record of used and missing keys, which
/// require_all_used() reports.
///
/// base_prefix: name of the base model in checkpoints with a task head. As in the reference, keys
/// may lack it (file of the base model) or have it in excess. Source: transformers,
/// core_model_loading.py (rename_source_key).
class Weights {
 public:
  explicit Weights(std::shared_ptr<const Checkpoint> checkpoint, std::string_view base_prefix = {},
                   const ComputeTypes& compute_types = {});

  /// Weights under `name`: (weights / "encoder" / "layer.0").get("weight", …).
  Weights operator/(std::string_view name) const;

  /// Data types of the layers under this scope.
  const ComputeTypes& compute_types() const { return compute_types_; }

  /// Total size of the checkpoint's files.
  size_t file_bytes() const { return checkpoint_->bytes(); }

  /// This scope with float32 as compute type, for small layers that are sensitive to rounding.
  Weights in_float32() const;

  /// A float32 copy of the tensor. Throws LoadError with the key if shape or type are wrong. A
  /// missing tensor is zeros until require_all_used() reports it.
  at::Tensor get(std::string_view name, std::initializer_list<int64_t> shape) const;

  /// The tensor in its stored type, as a view of the mapped file: for tables of which only some
  /// rows are read.
  at::Tensor get_as_stored(std::string_view name, std::initializer_list<int64_t> shape) const;

  /// A table in its stored type, [rows, columns], floating-point or int8. The file determines its
  /// shape.
  at::Tensor get_table(std::string_view name) const;

  /// Numbers as float32, [size]. The file determines the size.
  at::Tensor get_vector(std::string_view name) const;

  /// Integers as int64, [size]. The file determines the size.
  at::Tensor get_integers(std::string_view name) const;

  /// LoRA factors of the linear layer under this scope: of an adapter, or of each task. Empty: the
  /// layer has none. Throws LoadError like get().
  std::vector<LoraFactors> lora_factors(int64_t in_features, int64_t out_features) const;

  /// LoRA factors of the embedding table under this scope. Those of tasks are views of the file.
  std::vector<LoraFactors> lora_embedding_factors(int64_t rows, int64_t size) const;

  /// True if the files contain the key.
  bool has(std::string_view name) const { return find(full_name(name)) != nullptr; }

  /// Ignores keys outside the base model (heads of other tasks), if the base model has its prefix.
  void ignore_outside_base() const;

  /// Sets the head's name for the error if the files contain only the base model.
  void set_head_name(std::string_view kind) const { usage_->head = kind; }

  /// Ignores a key that older releases wrote.
  void ignore(std::string_view name) const;

  /// Ignores all keys under `name`: modules that the head does not run.
  void ignore_below(std::string_view name) const;

  /// Adds the names and values of all tensors that are read from now on to `content`; null: of
  /// none. LoRA factors are not added.
  void record_to(ContentHash* content) const { usage_->content = content; }

  /// Throws LoadError with missing keys, or with keys that were neither used, ignored nor known to
  /// be harmless.
  void require_all_used() const;

 private:
  /// Used and missing keys, shared by all scopes.
  struct Usage {
    std::string base_prefix;
    std::string head = "classification";
    size_t claimed = 0;                           ///< bytes of used and missing tensors
    ContentHash* content = nullptr;               ///< see record_to()
    std::set<std::string, std::less<>> recorded;  ///< keys of the tensors that `content` has
    std::set<std::string, std::less<>> used;
    std::vector<std::string> missing;              ///< keys
    std::vector<std::string> missing_with_shapes;  ///< keys with shapes
  };

  /// Names of the factors and sizes of the layer.
  struct LoraShape {
    std::string_view down, up;
    int64_t in, out;
  };

  std::optional<LoraFactors> read_factors(const LoraShape& shape) const;
  const TaskAdapters* task_adapters_of_layer() const;
  std::string full_name(std::string_view name) const;
  const Checkpoint::Entries::value_type* find(const std::string& key) const;
  at::Tensor get_of_rank(std::string_view name, int64_t rank,
                         std::initializer_list<at::ScalarType> types) const;
  at::Tensor placeholder_for(const std::string& key, at::IntArrayRef shape) const;
  bool claim(at::IntArrayRef shape, size_t element_size) const;
  void record(const std::string& key, const at::Tensor& tensor) const;
  std::vector<std::string> unused_keys() const;
  [[noreturn]] void throw_missing() const;
  std::shared_ptr<const Checkpoint> checkpoint_;
  std::shared_ptr<Usage> usage_;
  std::string prefix_;
  ComputeTypes compute_types_;
};

}  // namespace backend
