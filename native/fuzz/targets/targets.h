// Functions that libFuzzer calls with generated inputs, and backend_test with the corpus. Invalid
// inputs may only throw LoadError: any other exception is a bug.
#pragma once

#include <string>
#include <string_view>

namespace fuzz {

using Target = void (*)(std::string_view input);

/// A sequence of pickles.
void pickle(std::string_view input);
/// A file of torch.save, in either format.
void torch_save(std::string_view input);
/// 's' and a safetensors file, or another byte and a file of torch.save, loaded like a model's
/// weights.
void checkpoint(std::string_view input);
/// Lines of key, '=' and value: "size=384", "name=\"gelu\"", "flag=true", "nothing=null".
void model_config(std::string_view input);
/// A TorchScript file, whose archive is validated.
void torchscript_archive(std::string_view input);
/// A file of torch.export.save, whose plan is built.
void exported(std::string_view input);

/// Writes a file with this content; returns its path, which is the same for each call. `name`: file
/// name.
std::string written(std::string_view content, const std::string& name);

/// Aborts if the condition is false, also in builds without assertions.
void require(bool holds, const char* promise);

}  // namespace fuzz
