#include "pace.h"

#include <cmath>

namespace engine {

void Pace::add(double amount, Duration time) {
  const double kept = std::exp(-time.count());
  amount_ = amount_ * kept + amount;
  time_ = time_ * kept + time;
}

}  // namespace engine
