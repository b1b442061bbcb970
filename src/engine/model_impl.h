// A loaded model.
#pragma once

#include <atb/engine.h>

#include <memory>
#include <mutex>
#include <optional>

#include "runtime/executor.h"
#include "tokenizer/tokenizer.h"

namespace atb {

struct Model::Impl {
  std::unique_ptr<ModelFile> file;  ///< the plan reads embeddings from it
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Plan> plan;
  std::unique_ptr<Executor> executor;
  std::mutex executing;  ///< one step at a time
  std::unique_ptr<Tokenizer> tokenizer;
  std::optional<Error> no_tokenizer;  ///< why there is none
  ModelDescription description;

  const Tokenizer& require_tokenizer() const {
    if (no_tokenizer) throw *no_tokenizer;
    return *tokenizer;
  }
  int64_t context() const noexcept { return plan->options().max_context; }
};

}  // namespace atb
