#include "interrupt.h"

#include <unistd.h>

#include <csignal>

namespace atb::cli {
namespace {

volatile std::sig_atomic_t pending = 0;

void on_interrupt(int) {
  if (pending != 0) _exit(kExitInterrupted);
  pending = 1;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;  // without SA_RESTART: waiting for a line of input ends
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() noexcept { return pending != 0; }
void clear_interrupt() noexcept { pending = 0; }

}  // namespace atb::cli
