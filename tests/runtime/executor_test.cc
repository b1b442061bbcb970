#include "runtime/executor.h"

#include <atb/error.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "allocation_fixture.h"
#include "model_fixture.h"

namespace atb::test {
namespace {

double largest(const std::vector<double>& values) {
  double most = 0;
  for (double v : values) most = std::max(most, std::abs(v));
  return most;
}

/// The error that rounding may leave, relative to the largest logit: each matmul on the longest path adds the relative
/// rounding of its operands (norm-wise), and norms and residuals may amplify it by a small factor.
double tolerance(const SmallModel& model, double rounding) {
  constexpr double kAmplification = 4;
  return kAmplification * rounding * model.matmul_depth();
}
constexpr double kFp32Rounding = 0x1p-24 * SmallModel::kLongestSum;
constexpr double kBf16Rounding = 0x1p-9, kF16Rounding = 0x1p-12, kInt8Rounding = 0.5 / 127;

void expect_near(const std::vector<float>& found, const std::vector<double>& wanted, double relative) {
  ASSERT_EQ(found.size(), wanted.size());
  const double limit = relative * largest(wanted);
  double worst = 0;
  for (size_t i = 0; i < found.size(); ++i) worst = std::max(worst, std::abs(found[i] - wanted[i]));
  EXPECT_LE(worst, limit);
}

struct Case {
  DType weights, kv;
  Precision precision;
  double rounding;
};

TEST(Executor, MatchesTheReference) {
  const Case cases[] = {{DType::kF32, DType::kF32, Precision::kDefault, kFp32Rounding},
                        {DType::kF32, DType::kF32, Precision::kBf16, kBf16Rounding},
                        {DType::kF16, DType::kF16, Precision::kDefault, kF16Rounding},
                        {DType::kBF16, DType::kBF16, Precision::kDefault, kBf16Rounding},
                        {DType::kBF16, DType::kF32, Precision::kFp32, kFp32Rounding},
                        {DType::kQ8_0, DType::kF16, Precision::kDefault, kInt8Rounding},
                        {DType::kQ8_0, DType::kF32, Precision::kFp32, kFp32Rounding}};
  const auto tokens = random_tokens(20);
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(dtype_name(c.weights)) + " " + precision_name(c.precision));
    const SmallModel model({.weights = c.weights, .kv = c.kv});
    const auto wanted = model.reference(tokens);
    for (int64_t block : {1, 3, 20}) {
      Runner runner(model.graph(), model, c.kv, {.block = block, .precision = c.precision});
      expect_near(runner.logits(tokens), wanted, tolerance(model, c.rounding));
    }
  }
}

TEST(Executor, EveryIsaMatchesTheReference) {
  const auto tokens = random_tokens(9);
  int not_run = 0;
  for (DType weights : {DType::kF32, DType::kBF16, DType::kQ8_0}) {
    const SmallModel model({.weights = weights});
    const auto wanted = model.reference(tokens);
    const double rounding = weights == DType::kF32    ? kFp32Rounding
                            : weights == DType::kBF16 ? kBf16Rounding
                                                      : kInt8Rounding;
    for (int i = 0; i < kIsaCount; ++i) {
      const auto isa = static_cast<Isa>(i);
      if (!cpu_features().supports(isa)) {
        ++not_run;
        continue;
      }
      SCOPED_TRACE(isa_name(isa));
      Runner runner(model.graph(), model, DType::kF32, {.max_isa = isa});
      expect_near(runner.logits(tokens), wanted, tolerance(model, rounding));
    }
  }
  if (not_run > 0) std::printf("not run: %d combinations that this CPU lacks\n", not_run);
}

int64_t argmax(std::span<const float> row) { return std::max_element(row.begin(), row.end()) - row.begin(); }

// Case 30. Not bit for bit: softmax adds a row's terms in an order that depends on how many keys the block brings, the
// masked ones included.
TEST(Executor, BlockSizeDoesNotMatter) {
  const auto tokens = random_tokens(70);
  const SmallModel model({});
  Runner whole(model.graph(), model, DType::kF32, {.block = 70});
  const auto wanted = whole.logits(tokens);
  for (int64_t block : {1, 3, 16, 64}) {
    Runner runner(model.graph(), model, DType::kF32, {.block = block});
    const auto found = runner.logits(tokens);
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 1e-4) << "blocks of " << block;
    for (size_t row = 0; row < tokens.size(); ++row)
      EXPECT_EQ(argmax(std::span(found).subspan(row * SmallModel::kVocabulary, SmallModel::kVocabulary)),
                argmax(std::span(wanted).subspan(row * SmallModel::kVocabulary, SmallModel::kVocabulary)));
  }
}

TEST(Executor, NumberOfThreadsDoesNotMatter) {
  const auto tokens = random_tokens(40);
  const SmallModel model({.weights = DType::kQ8_0});
  for (int64_t block : {1, 40}) {
    Runner one(model.graph(), model, DType::kF32, {.threads = 1, .block = block});
    const auto wanted = one.logits(tokens);
    for (int threads : {2, 3}) {
      Runner runner(model.graph(), model, DType::kF32, {.threads = threads, .block = block});
      EXPECT_EQ(runner.logits(tokens), wanted) << threads << " threads, blocks of " << block;
      EXPECT_EQ(runner.logits(tokens), wanted) << "again";
    }
  }
}

TEST(Executor, SequencesTogetherEqualSequencesAlone) {
  const SmallModel model({.weights = DType::kQ8_0, .kv = DType::kF16});
  Runner runner(model.graph(), model, DType::kF16, {});
  const std::vector<std::vector<int32_t>> prompts = {random_tokens(12, 1), random_tokens(1, 2), random_tokens(33, 3)};
  std::vector<std::vector<float>> alone;
  for (const auto& p : prompts) alone.push_back(runner.logits(p));

  std::vector<KvCache> caches;
  for (size_t i = 0; i < prompts.size(); ++i) caches.push_back(runner.cache());
  std::vector<SequenceStep> steps;
  for (size_t i = 0; i < prompts.size(); ++i) steps.push_back({&caches[i], prompts[i], true});
  const auto together = runner.executor.step(steps);
  size_t at = 0;
  for (const auto& one : alone) {
    EXPECT_TRUE(std::equal(one.begin(), one.end(), together.begin() + static_cast<std::ptrdiff_t>(at)));
    at += one.size();
  }
  // One more token each, only the last logits.
  for (size_t i = 0; i < prompts.size(); ++i) steps[i] = {&caches[i], std::span(prompts[2]).subspan(i, 1)};
  const auto last = runner.executor.step(steps);
  ASSERT_EQ(last.size(), prompts.size() * SmallModel::kVocabulary);
  const std::vector<float> second(last.begin() + SmallModel::kVocabulary, last.begin() + 2 * SmallModel::kVocabulary);
  const std::vector<int32_t> grown = {prompts[1][0], prompts[2][1]};
  const auto wanted = runner.logits(grown);
  EXPECT_TRUE(std::equal(second.begin(), second.end(), wanted.begin() + SmallModel::kVocabulary));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in\n" << text;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

// The graph's text says what runs: edit it, and the logits change as the reference's do.
TEST(Executor, AnEditedGraphRunsAsEdited) {
  const SmallModel model({});
  const auto tokens = random_tokens(10);
  const auto original = model.reference(tokens);
  const std::string text = model.graph().to_text();
  const Graph edited = Graph::parse(replaced(text, "kind = silu", "kind = gelu"));
  const auto wanted = model.reference(edited, tokens);
  double change = 0;
  for (size_t i = 0; i < wanted.size(); ++i) change = std::max(change, std::abs(wanted[i] - original[i]));
  EXPECT_GT(change, 0.01 * largest(original));
  Runner runner(edited, model, DType::kF32, {});
  expect_near(runner.logits(tokens), wanted, tolerance(model, kFp32Rounding));
}

TEST(Executor, DecodesWithoutAllocating) {
  const SmallModel model({.weights = DType::kQ8_0});
  Runner runner(model.graph(), model, DType::kF32, {});
  KvCache cache = runner.cache();
  const auto tokens = random_tokens(40);
  const SequenceStep prefill{&cache, tokens};
  runner.executor.step({&prefill, 1});
  const int64_t before = allocation_count();
  for (size_t i = 0; i < 60; ++i) {
    const SequenceStep one{&cache, std::span(tokens).subspan(i % 40, 1)};
    runner.executor.step({&one, 1});
  }
  EXPECT_EQ(allocation_count(), before);
}

// A layer has 19 operators that read or write tensors; beside them stand embedding, take_rows, norm and head.
TEST(Executor, CountsKernelsRoundTripsAndBarriers) {
  const SmallModel model({.layers = 3});
  Runner runner(model.graph(), model, DType::kF32, {});
  runner.logits(random_tokens(1));
  int64_t kernels = 0, round_trips = 0;
  const auto is_activation = [&](ValueId id) {  // states do not count
    const Value& value = model.graph().value(id);
    return value.kind == ValueKind::kResult && model.graph().node(value.producer).op != Op::kKvAppend;
  };
  for (const Node& node : model.graph().nodes()) {
    ++kernels;
    round_trips += is_activation(node.output);
    for (ValueId in : node.inputs) round_trips += in != kNoValue && is_activation(in);
  }
  EXPECT_EQ(runner.executor.counters().kernels, kernels);
  EXPECT_EQ(runner.executor.counters().round_trips, round_trips);
  EXPECT_EQ(runner.plan->steps().size(), static_cast<size_t>(kernels));
  EXPECT_GT(runner.executor.counters().barriers, 0);
  EXPECT_LE(runner.executor.counters().barriers, 6 * 3 + 2);
}

void expect_error(ErrorCode code, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
  }
}

TEST(Executor, RejectsWrongInputBeforeAnythingChanges) {
  const SmallModel model({});
  Runner runner(model.graph(), model, DType::kF32, {});
  KvCache cache = runner.cache();
  const auto step = [&](std::vector<int32_t> tokens) {
    const SequenceStep s{&cache, tokens};
    runner.executor.step({&s, 1});
  };
  expect_error(ErrorCode::kUsage, [&] { step({}); });
  expect_error(ErrorCode::kUsage, [&] { step({-1}); });
  expect_error(ErrorCode::kUsage, [&] { step({SmallModel::kVocabulary}); });
  expect_error(ErrorCode::kUsage, [&] { step(random_tokens(81)); });
  EXPECT_EQ(cache.length(), 0);
  for (int i = 0; i < 4; ++i) step(random_tokens(50));
  expect_error(ErrorCode::kResources, [&] { step({1}); });
  EXPECT_EQ(cache.length(), 200);
}

TEST(Plan, RejectsATensorThatIsNotTheGraphs) {
  const SmallModel model({}), other({.weights = DType::kBF16});
  ThreadPool pool(1);
  const PlanOptions options{.isas = IsaSet(cpu_features(), {}), .kv_dtype = DType::kF32};
  expect_error(ErrorCode::kModel, [&] { Plan::build(model.graph(), other.lookup(), options, pool); });
}

// Nothing under src/runtime knows an architecture: the graph says it all.
TEST(Runtime, NamesNoArchitecture) {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "src" / "runtime";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    std::ifstream in(entry.path());
    std::string text((std::istreambuf_iterator<char>(in)), {});
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const char* name : {"llama", "mistral", "smollm", "qwen", "gemma", "gpt", "bert", "glm", "baichuan", "phi3"})
      EXPECT_EQ(text.find(name), std::string::npos) << name << " in " << entry.path();
  }
  EXPECT_GT(files, 10);
}

}  // namespace
}  // namespace atb::test
