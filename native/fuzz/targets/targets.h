// What libFuzzer calls with its bytes, and the tests with the kept ones. Files and configurations
// may do no more than fail with a LoadError: everything else that leaves a function is a find.
#pragma once

#include <string>
#include <string_view>

namespace fuzz {

using Target = void (*)(std::string_view input);

/// Pickles, one after the other.
void pickle(std::string_view input);
/// A file of torch.save, of either format.
void torch_save(std::string_view input);
/// 's' and a safetensors file, or anything else and a file of torch.save: read as a model reads it.
void checkpoint(std::string_view input);
/// Lines of a key, '=' and a value: "size=384", "name=\"gelu\"", "flag=true", "nothing=null".
void model_config(std::string_view input);
/// A TorchScript file, of which the archive is looked at before it is loaded.
void torchscript_archive(std::string_view input);
/// A file of torch.export.save, of which a plan is made.
void exported(std::string_view input);

/// The path of a file with this content, the same one each time. `name`: its name.
std::string written(std::string_view content, const std::string& name);

/// Ends the process when a promise is broken, also where assertions are compiled out.
void require(bool holds, const char* promise);

}  // namespace fuzz
