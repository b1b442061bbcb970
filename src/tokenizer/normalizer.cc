#include "tokenizer/normalizer.h"

#include <atb/error.h>
#include <utf8proc.h>

#include <cstdlib>
#include <memory>

#include "tokenizer/utf8.h"

namespace atb {
namespace {

utf8proc_option_t options_of(NormalForm form) {
  const int way = form == NormalForm::kNfc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | way);
}

void append_normalized(std::string_view valid, NormalForm form, std::string& out) {
  if (is_ascii(valid)) {
    out += valid;
    return;
  }
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(valid.data()),
                                               static_cast<utf8proc_ssize_t>(valid.size()), &result, options_of(form));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, std::free);
  if (length < 0) throw Error(ErrorCode::kResources, utf8proc_errmsg(length), "text normalization", "shorten the text");
  out.append(reinterpret_cast<const char*>(result), static_cast<size_t>(length));
}

std::string normalize_once(std::string_view text, NormalForm form) {
  std::string out;
  while (!text.empty()) {
    const size_t valid = valid_utf8_prefix(text);
    append_normalized(text.substr(0, valid), form, out);
    text.remove_prefix(valid);
    if (text.empty()) break;
    const size_t invalid = utf8_head(text).length;
    out += text.substr(0, invalid);
    text.remove_prefix(invalid);
  }
  return out;
}

}  // namespace

std::string normalize(std::string_view text, const std::vector<NormalForm>& forms) {
  std::string result(text);
  for (NormalForm form : forms) result = normalize_once(result, form);
  return result;
}

}  // namespace atb
