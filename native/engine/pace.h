// How fast something is done, as its recent past says.
#pragma once

#include <chrono>

namespace engine {

/// Time for an amount of work (tokens, bytes), from what the work before it took. What was measured
/// longer ago counts less: by the number e for each second of work since, so that a change of load
/// is followed within a second or two, and a pause changes nothing. Not synchronized.
class Pace {
 public:
  using Duration = std::chrono::duration<double>;

  void add(double amount, Duration time);

  /// 0 where nothing was measured.
  Duration time_for(double amount) const { return time_ * (amount_ > 0 ? amount / amount_ : 0); }

 private:
  double amount_ = 0;
  Duration time_{0};
};

}  // namespace engine
