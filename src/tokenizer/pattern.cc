#include "tokenizer/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <atb/error.h>
#include <fmt/format.h>
#include <pcre2.h>

#include "tokenizer/utf8.h"

namespace atb {
namespace {

using CodePtr = std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)>;
using MatchDataPtr = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;
using CompileContextPtr = std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)>;

std::string pcre2_message(int code) {
  PCRE2_UCHAR buffer[256] = {};
  pcre2_get_error_message(code, buffer, sizeof buffer);
  return reinterpret_cast<const char*>(buffer);
}

CodePtr compile(const std::string& expression, const std::string& where) {
  CompileContextPtr context(pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  if (!context) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  // Ruby's ^ and $ are always those of lines.
  constexpr uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_MULTILINE;
  int error = 0;
  PCRE2_SIZE offset = 0;
  CodePtr code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), kOptions, &error,
                             &offset, context.get()),
               pcre2_code_free);
  if (!code) {
    throw Error(ErrorCode::kModel,
                fmt::format("pre-tokenizer pattern: {} at byte {} of {}", pcre2_message(error), offset, expression),
                where, "correct the pattern");
  }
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // where machine code is not allowed the interpreter runs
  return code;
}

int match_at(const pcre2_code* code, std::string_view text, size_t offset, pcre2_match_data* data) {
  const auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  const int result = pcre2_match(code, subject, text.size(), offset, 0, data, nullptr);
  if (result != PCRE2_ERROR_JIT_STACKLIMIT) return result;
  return pcre2_match(code, subject, text.size(), offset, PCRE2_NO_JIT, data, nullptr);
}

}  // namespace

Pattern::Pattern(std::string_view expression, const std::string& where) {
  CodePtr code = compile(translate_pattern(expression, where), where);
  code_ = std::shared_ptr<const void>(
      code.release(), [](const void* p) { pcre2_code_free(static_cast<pcre2_code*>(const_cast<void*>(p))); });
}

void Pattern::find_all(std::string_view text, std::vector<Range>& matches) const {
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  MatchDataPtr data(pcre2_match_data_create_from_pattern(code, nullptr), pcre2_match_data_free);
  if (!data) throw std::bad_alloc();
  for (size_t offset = 0; offset < text.size();) {
    const int result = match_at(code, text, offset, data.get());
    if (result == PCRE2_ERROR_NOMATCH) return;
    if (result < 0) {
      throw Error(ErrorCode::kResources, "pre-tokenizer pattern: " + pcre2_message(result), "tokenizer",
                  "shorten the text");
    }
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(data.get());
    matches.push_back({bounds[0], bounds[1]});
    const bool empty = bounds[1] <= bounds[0];
    offset = empty && bounds[1] < text.size() ? bounds[1] + utf8_head(text.substr(bounds[1])).length : bounds[1];
    if (empty && bounds[1] == text.size()) return;
  }
}

std::string escape_pattern(std::string_view text) {
  std::string escaped;
  for (char c : text)
    escaped += std::string_view("\\^$.|?*+()[]{}").find(c) == std::string_view::npos ? std::string(1, c)
                                                                                     : std::string{'\\', c};
  return escaped;
}

}  // namespace atb
