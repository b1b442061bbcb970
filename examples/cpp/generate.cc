// Streams a model's answer:  generate MODEL "PROMPT"
#include <atb/engine.h>

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL PROMPT\n", argv[0]);
    return 2;
  }
  try {
    const atb::Model model = atb::Model::load(argv[1]);
    const auto prompt =
        model.chat_template().empty() ? model.tokenize(argv[2]) : model.chat_tokens({{"user", argv[2]}});
    const auto show = [](std::string_view piece) {
      std::fwrite(piece.data(), 1, piece.size(), stdout);
      return std::fflush(stdout) == 0;  // false cancels
    };
    const atb::GenerateResult result = model.generate(prompt, {.max_tokens = 64}, show);
    std::printf("\n[%s, %.1f tok/s]\n", atb::finish_reason_name(result.finish_reason), result.decode_tok_s());
  } catch (const atb::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
