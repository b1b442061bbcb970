// The least that needs a header and the library: throws and prints an error.
#include <atb/error.h>

#include <cstdio>

int main() {
  try {
    throw atb::Error(atb::ErrorCode::kUsage, "found 1, expected 2", "argument", "say 2");
  } catch (const atb::Error& error) {
    std::printf("%s: %s\n", atb::error_code_name(error.code()), error.what());
  }
}
