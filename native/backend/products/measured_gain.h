// How much faster one way to compute is than another.
#pragma once

#include <algorithm>
#include <chrono>

namespace backend {

template <class Call>
double seconds_of(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return taken.count();
}

/// How many times faster `candidate` is than `reference`: by the best times of alternating rounds,
/// so that what else happens on the machine hits both alike.
template <class Reference, class Candidate>
double measured_gain(int rounds, const Reference& reference, const Candidate& candidate) {
  double slow = seconds_of(reference), fast = seconds_of(candidate);
  for (int round = 0; round < rounds; ++round) {
    slow = std::min(slow, seconds_of(reference));
    fast = std::min(fast, seconds_of(candidate));
  }
  return slow / fast;
}

}  // namespace backend
