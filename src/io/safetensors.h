// One safetensors file: header length, JSON header, tensor data.
#pragma once

#include <vector>

#include "io/mapped_file.h"
#include "io/model_file.h"

namespace atb {

/// The tensors of the file in the order of its header; their data lies in `file`. Error{kFile} naming file and tensor
/// for anything malformed, Error{kModel} for a dtype that is not supported.
std::vector<TensorInfo> read_safetensors(const MappedFile& file);

}  // namespace atb
