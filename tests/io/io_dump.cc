// Prints what the readers make of a model, so that the Python tests can compare it with other implementations:
//   io_dump MODEL metadata        JSON object
//   io_dump MODEL tensors         JSON array of {name, dtype, shape, bytes}
//   io_dump MODEL values TENSOR   little-endian fp32
// Errors go to stderr as one line; the exit code is the ErrorCode.
#include <atb/error.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "io/model_file.h"

namespace {

using atb::ModelFile;
using nlohmann::json;

void print_metadata(const ModelFile& model) {
  json out = json::object();
  for (const auto& [key, value] : model.metadata().values()) {
    std::visit([&, &name = key](const auto& v) { out[name] = v; }, value);
  }
  std::cout << out << '\n';
}

void print_tensors(const ModelFile& model) {
  json out = json::array();
  for (const atb::TensorInfo& t : model.tensors()) {
    out.push_back({{"name", t.name}, {"dtype", atb::dtype_name(t.dtype)}, {"shape", t.shape}, {"bytes", t.bytes}});
  }
  std::cout << out << '\n';
}

void print_values(const ModelFile& model, const char* name) {
  const atb::TensorInfo& t = model.require(name);
  std::vector<float> values(static_cast<size_t>(t.elements()));
  atb::dequantize(t.dtype, t.data, 0, t.elements(), values.data());
  std::cout.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * 4));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[2] : "";
  try {
    if (what == "metadata" && argc == 3) {
      print_metadata(*atb::open_model(argv[1]));
    } else if (what == "tensors" && argc == 3) {
      print_tensors(*atb::open_model(argv[1]));
    } else if (what == "values" && argc == 4) {
      print_values(*atb::open_model(argv[1]), argv[3]);
    } else {
      std::fprintf(stderr, "usage: io_dump MODEL metadata|tensors|values [TENSOR]\n");
      return static_cast<int>(atb::ErrorCode::kUsage);
    }
  } catch (const atb::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
