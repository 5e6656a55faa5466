#include "programs/exported/read_program.h"

#include <ATen/ops/as_strided.h>

#include <span>
#include <stdexcept>
#include <vector>

#include "common/error.h"
#include "common/files/tensor_reference.h"
#include "common/files/zip_directory.h"
#include "programs/exported/graph.h"
#include "programs/report.h"

namespace backend {
namespace {

using Bytes = std::span<const std::byte>;

constexpr const char* kExportAgain =
    ": export the model again with torch.export.save of PyTorch 2.6 to 2.15";

/// Limits of the JSON text. Large models have some thousand nodes of 2 to 3 kB, mostly debug
/// information, with about 100 values each. A value needs up to 100 bytes of memory.
constexpr size_t kMaxJson = 256U << 20U;
constexpr size_t kMaxValues = 5'000'000;

/// Maximum size of a tensor that is larger than its storage: strides of 0 repeat elements.
constexpr size_t kMaxExpanded = 16U << 20U;

void require_few_values(std::string_view json) {
  size_t values = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"') in_string = !in_string;
    if (json[i] == '\\' && in_string) ++i;
    if (json[i] == ',' && !in_string) ++values;
  }
  if (values > kMaxValues)
    throw common::LoadError("holds more values of JSON than any that is written");
}

void require_stored(const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    size_t bytes = 0;
    const bool overflows =
        __builtin_mul_overflow(static_cast<size_t>(tensor.numel()), tensor.element_size(), &bytes);
    if (overflows || (bytes > kMaxExpanded && bytes > tensor.storage().nbytes())) {
      throw common::LoadError(name + ": is larger than what the file holds of it");
    }
  }
}

struct Records : common::ZipDirectory {
  /// Reads the directory. PyTorch 2.6 and 2.7 write records to the root, later versions to a
  /// folder.
  explicit Records(std::shared_ptr<const common::MappedFile> of)
      : common::ZipDirectory(
            common::read_zip_directory(of->bytes(), 0, common::OutsideRecords::kAllowed)),
        file(std::move(of)) {}

  std::string_view text(const std::string& name) const {
    const common::ZipRecord& found = record(name);
    if (found.size > kMaxJson)
      throw common::LoadError(name + ": is larger than any that is written");
    return found.text();
  }

  /// NAME of the only record `models/NAME.json`.
  std::string model_name() const {
    std::string found;
    for (const auto& [name, record] : *this) {
      if (!name.starts_with("models/") || !name.ends_with(".json")) continue;
      if (!found.empty()) throw common::LoadError("holds several models: expected one");
      found = name.substr(7, name.size() - 12);
    }
    if (!found.empty()) return found;
    for (const auto& [name, record] : *this) {
      if (name.starts_with("data/aotinductor/")) {
        throw common::LoadError(
            "holds machine code that AOTInductor made, which is not run: save the exported program "
            "itself, torch.export.save(torch.export.export(model, …), …)");
      }
    }
    throw common::LoadError("holds no model");
  }

  std::shared_ptr<const common::MappedFile> file;
};

/// Tensor of an entry of model_weights_config.json: a view of a record.
at::Tensor stored_tensor(const tokenizers::StoredTensor& entry, const Records& records,
                         const std::string& folder) {
  const std::string record = folder + std::string(entry.record);
  const Bytes bytes = records.record(record).bytes;
  const c10::ScalarType type = scalar_type_of(entry.scalar_type);
  const auto length = static_cast<int64_t>(bytes.size() / c10::elementSize(type));
  const common::TensorReference tensor{
      .storage = {.key = &record, .type = type, .length = length, .offset = 0},
      .offset = entry.offset,
      .sizes = {entry.sizes.begin(), entry.sizes.end()},
      .strides = {entry.strides.begin(), entry.strides.end()}};
  if (!common::lies_inside(tensor, length)) {
    throw common::LoadError("config." + std::string(entry.name) +
                            ": has a shape that does not fit the " + std::to_string(bytes.size()) +
                            " bytes of " + record);
  }
  return at::as_strided(view_elements(bytes, type, records.file), tensor.sizes, tensor.strides,
                        tensor.offset);
}

/// Reads the tensors of PyTorch 2.9 and later: a record for each storage.
NamedTensors stored_tensors(const Records& records, const std::string& folder,
                            const std::string& config) {
  NamedTensors tensors;
  if (!records.contains(folder + config)) return tensors;
  try {
    const std::string_view json = records.text(folder + config);
    require_few_values(json);
    for (const tokenizers::StoredTensor& entry :
         tokenizers::read_stored_tensors(tokenizers::bytes(json))) {
      tensors.emplace(std::string(entry.name), stored_tensor(entry, records, folder));
    }
  } catch (const std::exception& error) {  // LoadError, rust::Error
    throw common::LoadError(config + ": " + error.what());
  }
  return tensors;
}

/// Reads the tensors of earlier versions: a file of torch.save.
NamedTensors saved_tensors(const Records& records, const std::string& name) {
  const Bytes bytes = records.record(name).bytes;
  if (bytes.empty()) return {};
  try {
    return view_torch_save(bytes, records.file);
  } catch (const common::LoadError& error) {
    throw common::LoadError(name + ": " + error.what());
  }
}

/// Quotes Infinity, -Infinity and NaN, which PyTorch 2.6 writes as invalid JSON; later versions
/// quote them.
std::string quote_special_floats(std::string_view json) {
  std::string quoted;
  quoted.reserve(json.size());
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (in_string && json[i] == '\\' && i + 1 < json.size()) {
      quoted += json[i++];
    } else if (json[i] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      for (const std::string_view number : {"-Infinity", "Infinity", "NaN"}) {
        if (!json.substr(i).starts_with(number)) continue;
        quoted.append("\"").append(number).append("\"");
        i += number.size();
        break;
      }
    }
    if (i < json.size()) quoted += json[i];
  }
  return quoted;
}

void require_known_format(const Records& records) {
  if (!records.contains("archive_format") || records.text("archive_format") != "pt2") {
    throw common::LoadError(std::string("is no archive of torch.export.save") + kExportAgain);
  }
  if (const auto version = records.text("archive_version"); version != "0") {
    throw common::LoadError("archive_version: expected 0, found " +
                            std::string(version.substr(0, 20)) + kExportAgain);
  }
  records.require_little_endian();
}

/// Keeps only the caller's outputs. The others are updated buffers: runs do not keep state.
void select_user_outputs(tokenizers::ExportedProgram& program) {
  rust::Vec<tokenizers::Argument> outputs;
  for (const tokenizers::UserOutput& output : program.outputs) {
    if (output.index >= program.graph.outputs.size()) {
      throw common::LoadError("its graph lacks outputs that its signature names");
    }
    outputs.push_back(program.graph.outputs[output.index]);
  }
  program.graph.outputs = std::move(outputs);
}

ReadProgram read(const Records& records) {
  ReadProgram read;
  read.file = records.file;
  std::string quoted;
  std::string_view json;
  if (records.contains("serialized_exported_program.json")) {
    json = quoted = quote_special_floats(records.text("serialized_exported_program.json"));
    read.weights = saved_tensors(records, "serialized_state_dict.pt");
    read.constants = saved_tensors(records, "serialized_constants.pt");
  } else {
    require_known_format(records);
    const std::string name = records.model_name();
    json = records.text("models/" + name + ".json");
    const std::string weights = "data/weights/";
    const std::string constants = "data/constants/";
    if (records.contains(weights + name + ".pt")) {
      read.weights = saved_tensors(records, weights + name + ".pt");
      read.constants = saved_tensors(records, constants + name + ".pt");
    } else {
      read.weights = stored_tensors(records, weights, name + "_weights_config.json");
      read.constants = stored_tensors(records, constants, name + "_constants_config.json");
    }
  }
  require_few_values(json);
  require_stored(read.weights);
  require_stored(read.constants);
  read.program = tokenizers::read_exported_program(tokenizers::bytes(json));
  if (read.program.graph.inputs.size() != read.program.inputs.size()) {
    throw common::LoadError("its graph has " + std::to_string(read.program.graph.inputs.size()) +
                            " inputs, but its signature " +
                            std::to_string(read.program.inputs.size()));
  }
  select_user_outputs(read.program);
  return read;
}

}  // namespace

const at::Tensor& ReadProgram::tensor(const std::string& name) const {
  for (const NamedTensors* tensors : {&weights, &constants}) {
    if (const auto found = tensors->find(name); found != tensors->end()) return found->second;
  }
  throw common::LoadError("has no tensor " + name + ", which its signature names");
}

ReadProgram read_program(const std::string& path) {
  auto file = std::make_shared<const common::MappedFile>(path);
  const std::string name = file->name();
  try {
    return read(Records(std::move(file)));
  } catch (const rust::Error& error) {
    throw common::LoadError(name + ": " + error.what());
  } catch (const common::LoadError& error) {
    throw common::LoadError(name + ": " + error.what());
  }
}

ProgramInput input_of(const tokenizers::UserInput& read) {
  ProgramInput input{
      .name = std::string(read.name), .type = scalar_type_of(read.scalar_type), .sizes = {}};
  std::vector<DimRange>& ranges = input.sizes.emplace();
  for (const tokenizers::Size& size : read.sizes) {
    const DimRange range{.min = size.min, .max = size.max};
    ranges.push_back(size.symbol.empty() ? range : without_01_specialization(range));
  }
  return input;
}

}  // namespace backend
