// A tiny model from file to logits and tokens. The oracle is the fp64 reference run of the same graph.
#include <atb/engine.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "engine/tiny_files.h"
#include "kernels/reference.h"
#include "models/model.h"

namespace atb {
namespace {

using testing::MemoryModel;
using testing::TempDir;
using testing::TinySizes;

const std::vector<TokenId> kPrompt = {5, 17, 99, 3, 64, 127, 0, 42, 5, 17};

/// Largest difference relative to the largest reference value.
double difference(const std::vector<float>& a, const std::vector<double>& b) {
  double most = 0, scale = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  return most / scale;
}

std::vector<double> widen(const std::vector<float>& values) { return {values.begin(), values.end()}; }

RefTensor integers(const std::vector<TokenId>& ids) {
  return {{static_cast<int64_t>(ids.size())}, {ids.begin(), ids.end()}, DType::kI32};
}

/// Logits of every position by the reference executor, from the model's tensors in memory.
std::vector<double> reference_logits(const MemoryModel& file, const std::vector<TokenId>& tokens) {
  const BuiltModel model = build_model(file, DType::kF32);
  std::map<std::string, RefTensor> bindings;
  for (const Value& value : model.graph.values()) {
    if (value.kind == ValueKind::kState) bindings[value.tensor] = {{0, value.shape[1].constant()}, {}, value.dtype};
    if (value.kind != ValueKind::kParam) continue;
    const TensorInfo tensor = model.tensors(value.tensor);
    const auto* data = reinterpret_cast<const float*>(tensor.data);
    bindings[value.tensor] = {tensor.shape, {data, data + tensor.elements()}, DType::kF32};
  }
  std::vector<TokenId> positions(tokens.size());
  std::iota(positions.begin(), positions.end(), 0);
  bindings["tokens"] = integers(tokens);
  bindings["positions"] = bindings["logit_rows"] = integers(positions);
  return run_reference(model.graph, bindings).outputs.at("logits").data;
}

class TinyModel : public ::testing::Test {
 protected:
  static LoadOptions fp32(LoadOptions options = {}) {
    options.precision = "fp32";
    options.threads = 2;
    return options;
  }

  const TempDir dir_;
  const MemoryModel gguf_{ModelFormat::kGguf}, hf_{ModelFormat::kHuggingFace};
  const std::string gguf_path_ = write_gguf(dir_, gguf_), hf_path_ = write_hf(dir_, hf_);
};

// Four fp32 products of up to 128 terms per layer and a softmax: 1e-5 of the largest logit is some 80 roundings.
constexpr double kTolerance = 1e-5;

TEST_F(TinyModel, LogitsAreTheReferences) {
  const std::vector<double> reference = reference_logits(gguf_, kPrompt);
  ASSERT_EQ(reference.size(), kPrompt.size() * 128);
  EXPECT_LE(difference(Model::load(gguf_path_, fp32()).logits(kPrompt), reference), kTolerance);
}

TEST_F(TinyModel, BothFormatsGiveTheSameLogits) {
  const std::vector<float> a = Model::load(gguf_path_, fp32()).logits(kPrompt);
  const std::vector<float> b = Model::load(hf_path_, fp32()).logits(kPrompt);
  ASSERT_EQ(a.size(), b.size());
  EXPECT_LE(difference(a, widen(b)), kTolerance);
}

TEST_F(TinyModel, EveryIsaGivesTheReferencesLogits) {
  const std::vector<double> reference = reference_logits(gguf_, kPrompt);
  for (const char* isa : {"portable", "avx2", "avx512"}) {
    try {
      const Model model = Model::load(gguf_path_, fp32({.max_isa = isa}));
      EXPECT_EQ(model.description().isa, isa);
      EXPECT_LE(difference(model.logits(kPrompt), reference), kTolerance) << isa;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUsage) << error.what();
      std::cout << "[  NOT RUN ] no " << isa << " on this CPU\n";
    }
  }
}

// Case 30: the block size changes nothing, not even a bit.
TEST_F(TinyModel, PrefillBlocksDoNotChangeTheLogits) {
  const std::vector<float> whole = Model::load(hf_path_, fp32()).logits(kPrompt);
  for (int64_t block : {1, 3, 7}) {
    EXPECT_EQ(Model::load(hf_path_, fp32({.prefill_block = block})).logits(kPrompt), whole) << block;
  }
}

TEST_F(TinyModel, GreedyTokensFollowTheReference) {
  const Model model = Model::load(gguf_path_, fp32());
  const GenerateResult result = model.generate(kPrompt, {.max_tokens = 6});
  ASSERT_EQ(result.tokens.size(), 6u);
  std::vector<TokenId> tokens = kPrompt;
  for (TokenId token : result.tokens) {
    const std::vector<double> logits = reference_logits(gguf_, tokens);
    const auto last = logits.end() - 128;
    EXPECT_EQ(token, std::max_element(last, logits.end()) - last);
    tokens.push_back(token);
  }
  EXPECT_EQ(result.finish_reason, FinishReason::kLength);
  EXPECT_EQ(result.prompt_tokens, 10);
}

TEST_F(TinyModel, AnEditedGraphRunsInstead) {
  const Model model = Model::load(gguf_path_, fp32());
  std::string text = model.graph_text();
  EXPECT_EQ(Model::load(gguf_path_, fp32({.graph_text = text})).logits(kPrompt), model.logits(kPrompt));
  for (size_t at; (at = text.find("silu")) != text.npos;) text.replace(at, 4, "relu");
  const Model edited = Model::load(gguf_path_, fp32({.graph_text = text}));
  EXPECT_GT(difference(edited.logits(kPrompt), widen(model.logits(kPrompt))), 0.01);
  EXPECT_EQ(edited.graph_text(), text);
}

TEST_F(TinyModel, ABrokenGraphIsAnError) {
  EXPECT_THROW(Model::load(gguf_path_, {.graph_text = "graph {"}), Error);
  EXPECT_THROW(Model::load(gguf_path_, {.graph_text = ""}), Error);
}

TEST_F(TinyModel, SessionsReuseWhatTheyComputed) {
  const Model model = Model::load(hf_path_, fp32());
  Session session = model.session();
  const GenerateResult first = session.generate(kPrompt, {.max_tokens = 4});
  EXPECT_EQ(first.cached_tokens, 0);
  std::vector<TokenId> longer = kPrompt;
  longer.insert(longer.end(), first.tokens.begin(), first.tokens.end());
  longer.push_back(9);
  const GenerateResult second = session.generate(longer, {.max_tokens = 4});
  EXPECT_EQ(second.cached_tokens, 13);  // all but the last generated token, which was never computed
  EXPECT_EQ(second.tokens, model.generate(longer, {.max_tokens = 4}).tokens);
  EXPECT_EQ(session.generate(kPrompt, {.max_tokens = 4}).tokens, first.tokens);  // back to an earlier point
}

TEST_F(TinyModel, SessionsAreFedStepByStep) {
  const Model model = Model::load(hf_path_, fp32());
  const std::vector<float> all = model.logits(kPrompt);
  const std::vector<float> last(all.end() - 128, all.end());
  Session session = model.session();
  EXPECT_EQ(session.feed(kPrompt), last);
  EXPECT_EQ(session.length(), 10);
  session.truncate(4);
  EXPECT_EQ(session.feed({kPrompt.begin() + 4, kPrompt.end()}), last);
  session.reset();
  EXPECT_EQ(session.length(), 0);
  for (size_t i = 0; i + 1 < kPrompt.size(); ++i) session.feed({kPrompt[i]});
  EXPECT_EQ(session.feed({kPrompt.back()}), last);
}

TEST_F(TinyModel, SessionsCheckWhatTheyAreFed) {
  Session session = Model::load(hf_path_, {.context = 12}).session();  // outlives the model's handle
  session.feed(kPrompt);
  const auto code_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kInternal;
  };
  EXPECT_EQ(code_of([&] { session.feed({1, 2, 3}); }), ErrorCode::kResources);
  EXPECT_EQ(code_of([&] { session.feed({}); }), ErrorCode::kUsage);
  EXPECT_EQ(code_of([&] { session.feed({128}); }), ErrorCode::kUsage);
  EXPECT_EQ(code_of([&] { session.truncate(11); }), ErrorCode::kUsage);
  EXPECT_EQ(code_of([&] { session.truncate(-1); }), ErrorCode::kUsage);
  EXPECT_EQ(session.length(), 10);
  session.feed({1, 2});
}

TEST_F(TinyModel, PromptsAreChecked) {
  const Model model = Model::load(hf_path_);
  const auto error_of = [&](const std::vector<TokenId>& prompt, const GenerateOptions& options = {}) {
    try {
      model.generate(prompt, options);
    } catch (const Error& error) {
      return error;
    }
    return Error(ErrorCode::kInternal, "no error");
  };
  const Error too_long = error_of(std::vector<TokenId>(65, 1));
  EXPECT_EQ(too_long.code(), ErrorCode::kResources);
  EXPECT_THAT(too_long.what(), ::testing::AllOf(::testing::HasSubstr("65"), ::testing::HasSubstr("64")));
  EXPECT_EQ(error_of({}).code(), ErrorCode::kUsage);
  EXPECT_EQ(error_of({1, 128}).code(), ErrorCode::kUsage);
  EXPECT_EQ(error_of({-1}).code(), ErrorCode::kUsage);
  EXPECT_EQ(error_of({1}, {.max_tokens = -1}).code(), ErrorCode::kUsage);
  EXPECT_EQ(error_of({1}, {.sampling = {.top_p = 2}}).code(), ErrorCode::kUsage);
}

TEST_F(TinyModel, EndsAtTheContext) {
  const Model model = Model::load(hf_path_, {.context = 12});
  const GenerateResult result = model.generate(kPrompt, {.max_tokens = 100});
  EXPECT_EQ(result.finish_reason, FinishReason::kContext);
  EXPECT_EQ(result.tokens.size(), 3u);  // the last one needs no place of its own
}

TEST_F(TinyModel, NoTokensWanted) {
  const GenerateResult result = Model::load(hf_path_).generate(kPrompt, {.max_tokens = 0});
  EXPECT_TRUE(result.tokens.empty());
  EXPECT_EQ(result.finish_reason, FinishReason::kLength);
}

TEST_F(TinyModel, CanBeCancelled) {
  const Model model = Model::load(hf_path_, {.prefill_block = 2});
  int asked = 0;
  const GenerateResult result = model.generate(kPrompt, {.cancelled = [&] { return ++asked == 7; }});
  EXPECT_EQ(result.finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(result.tokens.size(), 2u);  // five blocks of the prompt, one step, then asked again
  const GenerateResult at_once = model.generate(kPrompt, {.cancelled = [] { return true; }});
  EXPECT_TRUE(at_once.tokens.empty());
}

TEST_F(TinyModel, SeveralThreadsGetTheSameTokens) {
  const Model model = Model::load(hf_path_, fp32());
  const std::vector<TokenId> expected = model.generate(kPrompt, {.max_tokens = 8}).tokens;
  std::vector<std::vector<TokenId>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] { result = model.generate(kPrompt, {.max_tokens = 8}).tokens; });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TEST_F(TinyModel, TextNeedsATokenizer) {
  const Model model = Model::load(hf_path_);
  EXPECT_THROW(model.tokenize("hello"), Error);
  EXPECT_THROW(model.detokenize({1}), Error);
  EXPECT_THROW(model.generate("hello"), Error);
  EXPECT_THROW(model.generate(kPrompt, {.stop = {"x"}}), Error);
}

TEST_F(TinyModel, DescriptionOfWhatRuns) {
  const Model model = Model::load(hf_path_, fp32({.context = 32}));
  const ModelDescription& d = model.description();
  EXPECT_EQ(d.architecture, "llama");
  EXPECT_EQ(d.context, 32);
  EXPECT_EQ(d.max_context, 64);
  EXPECT_EQ(d.kv_type, "f32");
  EXPECT_EQ(d.threads, 2);
  EXPECT_GT(d.kernels_per_layer, 0);
  EXPECT_EQ(model.vocab_size(), 128);
}

TEST_F(TinyModel, LoadOptionsAreChecked) {
  const std::pair<LoadOptions, const char*> kBad[] = {
      {{.threads = 0}, "threads"},
      {{.precision = "fp8"}, "precision"},
      {{.kv_type = "i8"}, "kv_type"},
      {{.max_isa = "sse9"}, "max_isa"},
      {{.context = 0}, "context"},
      {{.context = 65}, "context"},
      {{.prefill_block = 0}, "prefill_block"},
  };
  for (const auto& [options, where] : kBad) {
    try {
      Model::load(hf_path_, options);
      FAIL() << where;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUsage) << error.what();
      EXPECT_EQ(error.where(), where);
      EXPECT_THAT(error.message(), ::testing::HasSubstr("expected"));
    }
  }
}

TEST(Load, MissingFile) {
  try {
    Model::load("/no/such/model.gguf");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kFile);
  }
}

TEST(Machine, IsDescribed) {
  const MachineDescription m = describe_machine({.threads = 3, .max_isa = "portable"});
  EXPECT_EQ(m.threads, 3);
  EXPECT_EQ(m.isa, "portable");
  EXPECT_EQ(m.vector, "portable");
  EXPECT_EQ(m.cube, "portable int8, portable bf16, portable fp32");
  EXPECT_FALSE(m.threads_reason.empty());
}

}  // namespace
}  // namespace atb
