// Measures the memory read bandwidth of all cores in GB/s: the best of ten passes over 1 GiB. The
// number of threads is the number of cores or the argument:
//
//   g++ -std=c++20 -O3 -march=native -pthread bench/bandwidth.cc -o /tmp/bandwidth &&
//   /tmp/bandwidth
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  constexpr size_t kWords = size_t{1} << 27;  // 1 GiB
  constexpr int kPasses = 10;
  const size_t threads =
      argc > 1 ? std::strtoul(argv[1], nullptr, 10) : std::thread::hardware_concurrency();
  const std::vector<uint64_t> memory(kWords, 1);
  std::vector<uint64_t> sums(threads);
  double best = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    {
      std::vector<std::jthread> readers;
      for (size_t i = 0; i < threads; ++i) {
        readers.emplace_back([&, i] {
          const auto part = memory.begin() + static_cast<ptrdiff_t>(kWords / threads * i);
          sums[i] = std::accumulate(part, part + kWords / threads, uint64_t{0});
        });
      }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::max(best, kWords * sizeof(uint64_t) / took.count() / 1e9);
  }
  std::printf(
      "%zu threads: %.1f GB/s (%llu words)\n", threads, best,
      static_cast<unsigned long long>(std::accumulate(sums.begin(), sums.end(), uint64_t{0})));
}
