// The tiny LLaMA of tests/models as files on disk: a GGUF file and a Hugging Face folder, written here and not by the
// code under test.
#pragma once

#include <cstring>
#include <string>

#include "models/tiny_llama.h"
#include "support/temp_dir.h"

namespace atb::testing {

template <typename T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void append_string(std::string& out, const std::string& text) {
  append<uint64_t>(out, text.size());
  out += text;
}

/// One GGUF value with its type number: float32 6, bool 7, string 8, int64 11.
struct GgufValueWriter {
  std::string& out;
  void operator()(bool v) const { append<uint32_t>(out, 7), append<uint8_t>(out, v); }
  void operator()(int64_t v) const { append<uint32_t>(out, 11), append(out, v); }
  void operator()(double v) const { append<uint32_t>(out, 6), append(out, static_cast<float>(v)); }
  void operator()(const std::string& v) const { append<uint32_t>(out, 8), append_string(out, v); }
  template <typename T>
  void operator()(const std::vector<T>&) const {
    throw std::logic_error("arrays are not written");
  }
};

inline std::string data_of(const TinyTensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size() * sizeof(float)};
}

/// GGUF version 3 with fp32 tensors, aligned to 32 bytes.
inline std::string gguf_bytes(const MemoryModel& model) {
  std::string out = "GGUF";
  append<uint32_t>(out, 3);
  append<uint64_t>(out, model.weights.size());
  append<uint64_t>(out, model.meta.values().size());
  for (const auto& [key, value] : model.meta.values()) {
    append_string(out, key);
    std::visit(GgufValueWriter{out}, value);
  }
  std::string data;
  for (const auto& [name, tensor] : model.weights) {
    append_string(out, name);
    append<uint32_t>(out, static_cast<uint32_t>(tensor.shape.size()));
    for (auto dim = tensor.shape.rbegin(); dim != tensor.shape.rend(); ++dim) append<int64_t>(out, *dim);
    append<uint32_t>(out, 0);  // fp32
    append<uint64_t>(out, data.size());
    data += data_of(tensor);
    data.resize((data.size() + 31) / 32 * 32);
  }
  out.resize((out.size() + 31) / 32 * 32);
  return out + data;
}

inline std::string safetensors_bytes(const MemoryModel& model) {
  std::string header = "{", data;
  for (const auto& [name, tensor] : model.weights) {
    std::string shape;
    for (int64_t dim : tensor.shape) shape += (shape.empty() ? "" : ",") + std::to_string(dim);
    const size_t begin = data.size();
    data += data_of(tensor);
    header += (header.size() == 1 ? "\"" : ",\"") + name + R"(":{"dtype":"F32","shape":[)" + shape +
              R"(],"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  header += "}";
  std::string out;
  append<uint64_t>(out, header.size());
  return out + header + data;
}

/// A JSON value; keys of tiny models hold no objects.
struct JsonWriter {
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return std::to_string(v); }
  std::string operator()(const std::string& v) const { return "\"" + v + "\""; }
  std::string operator()(const std::vector<std::string>& v) const { return "[\"" + v.at(0) + "\"]"; }
  template <typename T>
  std::string operator()(const std::vector<T>&) const {
    throw std::logic_error("arrays of numbers are not written");
  }
};

inline std::string config_json(const Metadata& meta) {
  std::string text;
  for (const auto& [key, value] : meta.values()) {
    text += (text.empty() ? "{\"" : ",\"") + key + "\":" + std::visit(JsonWriter{}, value);
  }
  return text + "}";
}

/// Returns the path of the file.
inline std::string write_gguf(const TempDir& dir, const MemoryModel& model, const std::string& name = "tiny.gguf") {
  return dir.write(name, gguf_bytes(model));
}

/// Returns the path of the folder.
inline std::string write_hf(const TempDir& dir, const MemoryModel& model, const std::string& name = "tiny") {
  dir.write(name + "/config.json", config_json(model.meta));
  dir.write(name + "/model.safetensors", safetensors_bytes(model));
  return (dir.path() / name).string();
}

}  // namespace atb::testing
