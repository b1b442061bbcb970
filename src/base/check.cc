#include "base/check.h"

#include <string>
#include <string_view>

namespace atb {

void check_failed(const char* condition, const char* file, int line) {
  std::string_view path(file);
  const size_t src = path.rfind("src/");
  if (src != std::string_view::npos) path.remove_prefix(src);
  throw Error(ErrorCode::kInternal, std::string("internal check failed: ") + condition,
              std::string(path) + ":" + std::to_string(line), "this is a bug of atb, please report it");
}

}  // namespace atb
