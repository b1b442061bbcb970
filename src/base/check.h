// ATB_CHECK states what must hold unless this library has a bug. Wrong input gets an atb::Error with its own words.
#pragma once

#include <atb/error.h>

namespace atb {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace atb

#define ATB_CHECK(condition) ((condition) ? void() : ::atb::check_failed(#condition, __FILE__, __LINE__))
