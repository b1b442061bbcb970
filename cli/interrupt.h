// Ctrl-C: the first one asks the work to stop, a second one before it did ends the program.
#pragma once

namespace atb::cli {

inline constexpr int kExitInterrupted = 130;

void catch_interrupts();
bool interrupted() noexcept;
void clear_interrupt() noexcept;

}  // namespace atb::cli
