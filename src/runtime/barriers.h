// Where threads must wait for each other.
#pragma once

#include "runtime/plan_impl.h"

namespace atb {

/// Sets barrier_before of the schedule's phases, for batches up to `most`. Its buffers must have their places.
void place_barriers(const Plan::Impl& plan, const Symbols& most, Schedule& schedule);

}  // namespace atb
