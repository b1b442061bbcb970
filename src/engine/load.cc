// From a path to a model that runs: open, build the graph, plan, and the tokenizer beside it.
#include <atb/engine.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>

#include "base/log.h"
#include "base/options.h"
#include "cost/profile.h"
#include "engine/kv_dtype.h"
#include "engine/machine.h"
#include "engine/model_impl.h"
#include "engine/settings.h"
#include "fusion/fuse.h"
#include "models/model.h"

namespace atb {
namespace {

constexpr int64_t kDefaultContext = 8192;

DType choose_kv_type(const Settings& settings, const ModelFile& file) {
  if (settings.kv_type) return *settings.kv_type;
  if (settings.precision == Precision::kFp32) return DType::kF32;
  return default_kv_dtype(file);
}

int64_t choose_context(const Settings& settings, const ModelInfo& info) {
  const int64_t most = info.context_length;
  const int64_t context = settings.context.value_or(std::min(most, kDefaultContext));
  if (context <= most) return context;
  throw Error(ErrorCode::kUsage, fmt::format("{} tokens found, at most {} expected", context, most), "context",
              "this model was not trained for more");
}

/// The caller's graph instead of the model's own: any graph with the same inputs, states and output.
Graph choose_graph(const LoadOptions& options, Graph own) {
  if (!options.graph_text) return own;
  Graph graph = Graph::parse(*options.graph_text);
  graph.verify();
  return graph;
}

/// On if asked for, and off nowhere.
bool wants_fusion(const FusionOptions& options) {
  const Switches switches = resolve_switches(options);  // an unknown rule name is an error even where nothing fuses
  return (options.fusion || read_env().op_fusion) && switches.fusion;
}

/// The operators of the graph that run as one kernel, planned for blocks of a prompt.
std::vector<Region> choose_regions(const Graph& graph, const FusionOptions& options, int64_t block) {
  return fuse(graph, {.options = options, .profile = host_profile(""), .workload = {.tokens = block}}).regions;
}

struct LoadedTokenizer {
  std::unique_ptr<Tokenizer> tokenizer;
  std::optional<Error> error;
};

// A model without a usable tokenizer still computes logits; the reason is thrown by the calls that need text.
LoadedTokenizer try_load_tokenizer(const ModelFile& file) {
  try {
    return {load_tokenizer(file), std::nullopt};
  } catch (const Error& error) {
    return {nullptr, error};
  }
}

double kernels_per_layer(const Plan& plan, int64_t layers) {
  int64_t kernels = 0;
  for (const StepInfo& step : plan.steps()) kernels += step.path.starts_with("layers.");
  return static_cast<double>(kernels) / static_cast<double>(layers);
}

ModelDescription describe(const Model::Impl& model, const ModelInfo& info, const Settings& settings) {
  const PlanOptions& options = model.plan->options();
  return {
      .path = model.file->path(),
      .architecture = info.architecture,
      .weight_types = info.weight_types,
      .isa = isa_name(settings.isas.best()),
      .cube = model.plan->cube(),
      .vector = vector_name(settings.isas),
      .precision = model.plan->precision(),
      .kv_type = dtype_name(options.kv_dtype),
      .layers = info.layers,
      .hidden_size = info.hidden_size,
      .intermediate_size = info.intermediate_size,
      .heads = info.heads,
      .kv_heads = info.kv_heads,
      .head_dim = info.head_dim,
      .vocab_size = info.vocab_size,
      .parameters = info.parameters,
      .context = options.max_context,
      .max_context = info.context_length,
      .threads = settings.threads.threads,
      .load_s = 0,
      .kernels_per_layer = kernels_per_layer(*model.plan, info.layers),
  };
}

}  // namespace

Model Model::load(const std::string& path, const LoadOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Settings settings = resolve_settings(options);
  auto model = std::make_shared<Impl>();
  model->file = open_model(path);
  const DType kv_dtype = choose_kv_type(settings, *model->file);
  BuiltModel built = build_model(*model->file, kv_dtype, settings.precision == Precision::kFp32);
  const int64_t context = choose_context(settings, built.info);
  auto tokenizer = std::async(std::launch::async, try_load_tokenizer, std::cref(*model->file));
  model->pool = std::make_unique<ThreadPool>(settings.threads.threads);
  const PlanOptions plan_options = {.isas = settings.isas,
                                    .precision = settings.precision,
                                    .kv_dtype = kv_dtype,
                                    .max_rows = std::min(settings.prefill_block, context),
                                    .max_context = context};
  Graph graph = choose_graph(options, std::move(built.graph));
  std::vector<Region> regions;
  if (wants_fusion(options.fusion)) {
    graph = recognise(graph);
    regions = choose_regions(graph, options.fusion, plan_options.max_rows);
  }
  model->plan = Plan::build(std::move(graph), built.tensors, plan_options, *model->pool, regions);
  model->executor = std::make_unique<Executor>(*model->plan, *model->pool);
  LoadedTokenizer loaded = tokenizer.get();
  model->tokenizer = std::move(loaded.tokenizer);
  model->no_tokenizer = std::move(loaded.error);
  model->description = describe(*model, built.info, settings);
  model->description.load_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Model(std::move(model));
}

}  // namespace atb
