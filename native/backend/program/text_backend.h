// A program that classifies texts, behind the tokenizer of a Hugging Face directory.
#pragma once

#include <memory>

#include "backend/backends.h"
#include "program/program.h"

namespace backend {

/// Tried first. Throws LoadError, or what the program throws.
LoadedModel serve_texts(std::unique_ptr<Program> program, const TextProgramSource& source,
                        const ComputeOptions& compute);

}  // namespace backend
