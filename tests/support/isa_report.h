// Tests of one instruction set: a CPU that lacks it says so, once per set, and the test counts as skipped.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "base/cpu.h"

namespace atb::testing {

/// True if this CPU runs `isa`; else prints "not run: no amx" the first time.
inline bool can_run(Isa isa) {
  static std::set<Isa> reported;
  if (cpu_features().supports(isa)) return true;
  if (reported.insert(isa).second) std::printf("not run: no %s\n", isa_name(isa));
  return false;
}

}  // namespace atb::testing

/// Skips the running test unless this CPU has `isa`.
#define ATB_REQUIRE_ISA(isa) \
  if (!atb::testing::can_run(isa)) GTEST_SKIP() << "not run: no " << atb::isa_name(isa)
