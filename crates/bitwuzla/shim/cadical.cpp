// CaDiCaL as C functions. The C interface that comes with it lacks phases, by which we let the
// search start from the recorded input.

#include "cadical.hpp"

namespace {

struct Instance : CaDiCaL::Terminator {
  CaDiCaL::Solver solver;
  int (*stop) (void *) = nullptr;
  void *state = nullptr;
  bool terminate () override { return stop && stop (state); }
};

} // namespace

extern "C" {

Instance *nearmiss_sat_new () {
  auto *instance = new Instance;
  instance->solver.set ("quiet", 1);
  // Trying all-true and all-false first would miss the preferred values.
  instance->solver.set ("lucky", 0);
  return instance;
}

void nearmiss_sat_delete (Instance *instance) { delete instance; }

// Clauses and assumptions, as IPASIR has them.
void nearmiss_sat_add (Instance *instance, int literal) { instance->solver.add (literal); }
void nearmiss_sat_assume (Instance *instance, int literal) { instance->solver.assume (literal); }

// The value that a decision about this variable tries first.
void nearmiss_sat_phase (Instance *instance, int literal) { instance->solver.phase (literal); }

// 10: satisfiable, 20: unsatisfiable, 0: stopped. A negative number of conflicts is no limit.
int nearmiss_sat_solve (Instance *instance, int conflicts, int (*stop) (void *), void *state) {
  instance->stop = stop;
  instance->state = state;
  instance->solver.limit ("conflicts", conflicts);
  instance->solver.connect_terminator (instance);
  int result = instance->solver.solve ();
  instance->solver.disconnect_terminator ();
  return result;
}

// Whether a variable is true in the model.
int nearmiss_sat_value (Instance *instance, int variable) {
  return instance->solver.val (variable) > 0;
}
}
