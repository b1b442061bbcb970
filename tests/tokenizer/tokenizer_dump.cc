// What the tokenizer of a model makes of texts, for tests/python/test_tokenizer.py.
// usage: tokenizer_dump MODEL < requests; one JSON request per line, one JSON answer per line:
//   {"text": T, "special": B, "trusted": B} -> {"ids": [...]}    (a text that is not UTF-8: {"bytes": [...]} )
//   {"ids": [...], "render": B}             -> {"text": T, "chunks": [...]}
//   {"messages": [{"role", "content"}...]}  -> {"text": T, "ids": [...]}, or {"error": E}
//   {"info": true}                          -> {"bos", "eos", "adds_bos", "load_ms"}
#include <atb/error.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tokenizer/tokenizer.h"

namespace {

using Json = nlohmann::json;

std::string text_of(const Json& request) {
  if (request.contains("text")) return request["text"];
  const std::vector<uint8_t> bytes = request["bytes"];
  return std::string(bytes.begin(), bytes.end());
}

Json encode(const atb::Tokenizer& tokenizer, const Json& request) {
  const atb::Tokenizer::EncodeOptions options{request.value("special", false), request.value("trusted", true)};
  return {{"ids", tokenizer.encode(text_of(request), options)}};
}

Json decode(const atb::Tokenizer& tokenizer, const Json& request) {
  const std::vector<atb::TokenId> ids = request["ids"];
  const bool render = request.value("render", true);
  atb::StreamDecoder stream(tokenizer, render);
  std::vector<std::string> chunks;
  for (atb::TokenId id : ids) chunks.push_back(stream.push(id));
  chunks.push_back(stream.flush());
  return {{"text", tokenizer.decode(ids, render)}, {"chunks", chunks}};
}

Json chat(const atb::Tokenizer& tokenizer, const Json& request) {
  std::vector<atb::ChatMessage> messages;
  for (const Json& m : request["messages"]) messages.push_back({m["role"], m["content"]});
  return {{"text", render_chat(tokenizer, messages)}, {"ids", encode_chat(tokenizer, messages)}};
}

Json answer(const atb::Tokenizer& tokenizer, const Json& request, double load_ms) {
  try {
    if (request.contains("messages")) return chat(tokenizer, request);
    if (request.contains("ids")) return decode(tokenizer, request);
    if (!request.contains("info")) return encode(tokenizer, request);
    return {{"bos", tokenizer.bos().value_or(-1)},
            {"eos", tokenizer.eos()},
            {"adds_bos", tokenizer.adds_bos()},
            {"load_ms", load_ms}};
  } catch (const atb::Error& error) {
    return {{"error", error.what()}};
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const auto file = atb::open_model(argv[1]);
  const auto begin = std::chrono::steady_clock::now();
  const auto tokenizer = atb::load_tokenizer(*file);
  const double load_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(*tokenizer, Json::parse(line), load_ms).dump() << "\n";
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
