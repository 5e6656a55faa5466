#include "exported/read_program.h"

#include <ATen/ops/as_strided.h>

#include <span>
#include <stdexcept>
#include <vector>

#include "backend/model_config.h"
#include "exported/graph.h"
#include "files/tensor_reference.h"
#include "files/zip_directory.h"
#include "program/report.h"

namespace backend {
namespace {

using Bytes = std::span<const std::byte>;

constexpr const char* kExportAgain =
    ": export the model again with torch.export.save of PyTorch 2.6 to 2.15";

/// The largest models have some thousand nodes of 2 or 3 kB, most of it for error messages: a
/// hundred values each. A value takes up to a hundred bytes of memory.
constexpr size_t kMaxJson = 256U << 20U;
constexpr size_t kMaxValues = 5'000'000;

/// Strides of 0 repeat numbers: to this many bytes, beyond those that there are.
constexpr size_t kMaxRepeated = 16U << 20U;

void require_few_values(std::string_view json) {
  size_t values = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"') in_string = !in_string;
    if (json[i] == '\\' && in_string) ++i;
    if (json[i] == ',' && !in_string) ++values;
  }
  if (values > kMaxValues) throw LoadError("holds more values of JSON than any that is written");
}

void require_stored(const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    size_t bytes = 0;
    const bool overflows =
        __builtin_mul_overflow(static_cast<size_t>(tensor.numel()), tensor.element_size(), &bytes);
    if (overflows || (bytes > kMaxRepeated && bytes > tensor.storage().nbytes())) {
      throw LoadError(name + ": is larger than what the file holds of it");
    }
  }
}

struct Records : ZipDirectory {
  /// PyTorch 2.6 and 2.7 put records beside each other, later ones into a folder of any name.
  explicit Records(std::shared_ptr<const MappedFile> of)
      : ZipDirectory(read_zip_directory(of->bytes(), 0, ZipOutside::kAnything)),
        file(std::move(of)) {}

  std::string_view text(const std::string& name) const {
    const ZipRecord& found = record(name);
    if (found.size > kMaxJson) throw LoadError(name + ": is larger than any that is written");
    return found.text();
  }

  /// `models/NAME.json`, of which there has to be one.
  std::string model_name() const {
    std::string found;
    for (const auto& [name, record] : *this) {
      if (!name.starts_with("models/") || !name.ends_with(".json")) continue;
      if (!found.empty()) throw LoadError("holds several models: expected one");
      found = name.substr(7, name.size() - 12);
    }
    if (!found.empty()) return found;
    for (const auto& [name, record] : *this) {
      if (name.starts_with("data/aotinductor/")) {
        throw LoadError(
            "holds machine code that AOTInductor made, which is not run: save the exported program "
            "itself, torch.export.save(torch.export.export(model, …), …)");
      }
    }
    throw LoadError("holds no model");
  }

  std::shared_ptr<const MappedFile> file;
};

/// One entry of model_weights_config.json: a record of bytes, and how a tensor lies in it.
at::Tensor stored_tensor(const tokenizers::StoredTensor& entry, const Records& records,
                         const std::string& folder) {
  const std::string record = folder + std::string(entry.record);
  const Bytes bytes = records.record(record).bytes;
  const c10::ScalarType type = scalar_type_of(entry.scalar_type);
  const auto length = static_cast<int64_t>(bytes.size() / c10::elementSize(type));
  const TensorReference tensor{
      .storage = {.key = &record, .type = type, .length = length, .offset = 0},
      .offset = entry.offset,
      .sizes = {entry.sizes.begin(), entry.sizes.end()},
      .strides = {entry.strides.begin(), entry.strides.end()}};
  if (!lies_inside(tensor, length)) {
    throw LoadError("config." + std::string(entry.name) + ": has a shape that does not fit the " +
                    std::to_string(bytes.size()) + " bytes of " + record);
  }
  return at::as_strided(view_elements(bytes, type, records.file), tensor.sizes, tensor.strides,
                        tensor.offset);
}

/// Since PyTorch 2.9: a record for each storage.
NamedTensors stored_tensors(const Records& records, const std::string& folder,
                            const std::string& config) {
  NamedTensors tensors;
  if (!records.contains(folder + config)) return tensors;
  try {
    const std::string_view json = records.text(folder + config);
    require_few_values(json);
    for (const tokenizers::StoredTensor& entry : tokenizers::read_stored_tensors(tokenizers::bytes(json))) {
      tensors.emplace(std::string(entry.name), stored_tensor(entry, records, folder));
    }
  } catch (const std::exception& error) {  // LoadError, rust::Error
    throw LoadError(config + ": " + error.what());
  }
  return tensors;
}

/// Before that: a file of torch.save.
NamedTensors saved_tensors(const Records& records, const std::string& name) {
  const Bytes bytes = records.record(name).bytes;
  if (bytes.empty()) return {};
  try {
    return view_torch_save(bytes, records.file);
  } catch (const LoadError& error) {
    throw LoadError(name + ": " + error.what());
  }
}

/// PyTorch 2.6 writes Infinity, -Infinity and NaN as they are; later ones, as JSON asks, in quotes.
std::string with_quoted_numbers(std::string_view json) {
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
    throw LoadError(std::string("is no archive of torch.export.save") + kExportAgain);
  }
  if (const auto version = records.text("archive_version"); version != "0") {
    throw LoadError("archive_version: expected 0, found " + std::string(version.substr(0, 20)) +
                    kExportAgain);
  }
  records.require_little_endian();
}

/// Others than the caller's are what buffers become: no run sees what another one left behind.
void keep_outputs_of_caller(tokenizers::ExportedProgram& program) {
  rust::Vec<tokenizers::Argument> outputs;
  for (const tokenizers::UserOutput& output : program.outputs) {
    if (output.index >= program.graph.outputs.size()) {
      throw LoadError("its graph lacks outputs that its signature names");
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
    json = quoted = with_quoted_numbers(records.text("serialized_exported_program.json"));
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
    throw LoadError("its graph has " + std::to_string(read.program.graph.inputs.size()) +
                    " inputs, but its signature " + std::to_string(read.program.inputs.size()));
  }
  keep_outputs_of_caller(read.program);
  return read;
}

}  // namespace

const at::Tensor& ReadProgram::tensor(const std::string& name) const {
  for (const NamedTensors* tensors : {&weights, &constants}) {
    if (const auto found = tensors->find(name); found != tensors->end()) return found->second;
  }
  throw LoadError("has no tensor " + name + ", which its signature names");
}

ReadProgram read_program(const std::string& path) {
  auto file = std::make_shared<const MappedFile>(path);
  const std::string name = file->name();
  try {
    return read(Records(std::move(file)));
  } catch (const rust::Error& error) {
    throw LoadError(name + ": " + error.what());
  } catch (const LoadError& error) {
    throw LoadError(name + ": " + error.what());
  }
}

ProgramInput input_of(const tokenizers::UserInput& read) {
  ProgramInput input{
      .name = std::string(read.name), .type = scalar_type_of(read.scalar_type), .sizes = {}};
  std::vector<DimRange>& ranges = input.sizes.emplace();
  for (const tokenizers::Size& size : read.sizes) {
    const DimRange range{.least = size.least, .most = size.most};
    ranges.push_back(size.symbol.empty() ? range : as_meant(range));
  }
  return input;
}

}  // namespace backend
