// One handler of SIGSEGV, before any other.
//
// A fault on our pages comes from the instruction that touches them, never from the midst of other
// code of the thread; so the handler may take locks and start threads as any function may.
#include "tidemark/libtorch/phantom/values/host_faults.h"

#include <signal.h>

#include <atomic>
#include <cerrno>

namespace tidemark::phantom {
namespace {

// The handler has no other way to them.
std::atomic<FillAt> g_fill{nullptr};
struct sigaction g_theirs {};
thread_local bool t_passes_on = false;

void die_of(int number) {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(number, &plain, nullptr);  // the instruction comes again, and ends the process
}

// A handler that came after ours may itself call ours for what it does not know.
void pass_on(int number, siginfo_t* info, void* context) {
  const bool has_handler = g_theirs.sa_handler != SIG_DFL && g_theirs.sa_handler != SIG_IGN;
  if (t_passes_on || !has_handler) return die_of(number);
  t_passes_on = true;
  if ((g_theirs.sa_flags & SA_SIGINFO) != 0) g_theirs.sa_sigaction(number, info, context);
  else g_theirs.sa_handler(number);
  t_passes_on = false;
}

void on_touch(int number, siginfo_t* info, void* context) {
  const int before = errno;
  const FillAt fill = g_fill.load();
  const bool was_touched = info->si_code == SEGV_ACCERR;
  if (!was_touched || !fill || !fill(info->si_addr)) pass_on(number, info, context);
  errno = before;
}

}  // namespace

void hear_touches(FillAt fill) {
  g_fill = fill;
  struct sigaction now {};
  sigaction(SIGSEGV, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &on_touch) return;
  g_theirs = now;
  struct sigaction ours {};
  ours.sa_sigaction = &on_touch;
  // The thread that fills must hear faults too, and is born with this one's mask.
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGSEGV, &ours, nullptr);
}

}  // namespace tidemark::phantom
