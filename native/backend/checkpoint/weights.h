// A checkpoint as the modules read it: by scoped names, each with the shape it must have.
#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backends.h"
#include "checkpoint/checkpoint.h"

namespace backend {

/// A view into a checkpoint under a prefix. Copies share what has been read and what was missing,
/// so that at the end all of it can be named.
///
/// base_prefix: the name of the base model within the classifier. As in the reference, a key may
/// lack it (a file saved from the base model) or have it in excess.
/// Source: transformers, core_model_loading.py (rename_source_key).
class Weights {
 public:
  explicit Weights(std::shared_ptr<const Checkpoint> checkpoint, std::string_view base_prefix = {},
                   const Numbers& numbers = {});

  /// The scope below: (weights / "encoder" / "layer.0").get("weight", …).
  Weights operator/(std::string_view name) const;

  /// In which the layers under this scope are to multiply.
  const Numbers& numbers() const { return numbers_; }

  /// Of all files that the weights are read from.
  size_t file_bytes() const { return checkpoint_->bytes(); }

  /// The same scope with float32, for small layers on which the answer hangs.
  Weights in_float32() const;

  /// float32, a copy of its own. Throws LoadError naming the key: wrong shape or type. In the place
  /// of a missing one stand zeros, until require_all_used() names it.
  at::Tensor get(std::string_view name, std::initializer_list<int64_t> shape) const;

  /// In the stored floating-point type, still in the mapped file: for tables read row by row.
  at::Tensor get_as_stored(std::string_view name, std::initializer_list<int64_t> shape) const;

  /// Whether the files have it.
  bool has(std::string_view name) const { return find(full_name(name)) != nullptr; }

  /// Where the base model stands under its name, all that stands beside it: heads of other tasks.
  void ignore_beside_base() const;

  /// What kind of head is missing, in the error where the files hold the base model alone.
  void name_head(std::string_view kind) const { record_->head = kind; }

  /// A key that older versions of the library wrote and no model reads.
  void ignore(std::string_view name) const;

  /// Throws LoadError naming the keys that were missing, or that nothing read, ignored or knows to
  /// be harmless.
  void require_all_used() const;

 private:
  /// Shared by all scopes: what was read, and what could not be.
  struct Record {
    std::string base_prefix;
    std::string head = "classification";
    size_t claimed = 0;  ///< bytes, of what was read and of what stands for what is missing
    std::set<std::string, std::less<>> used;
    std::vector<std::string> missing;        ///< keys
    std::vector<std::string> missing_shown;  ///< the same with their shapes
  };

  std::string full_name(std::string_view name) const;
  const Checkpoint::Entries::value_type* find(const std::string& key) const;
  at::Tensor in_place_of(const std::string& key, at::IntArrayRef shape) const;
  bool claim(at::IntArrayRef shape, size_t element_size) const;
  std::vector<std::string> unread_keys() const;
  [[noreturn]] void throw_missing() const;
  std::shared_ptr<const Checkpoint> checkpoint_;
  std::shared_ptr<Record> record_;
  std::string prefix_;
  Numbers numbers_;
};

}  // namespace backend
