// AMX on processors without it.
#pragma once

#include <csignal>

/// While one exists, instructions of AMX that this processor lacks are carried out by us: each ends
/// in a SIGILL, whose handler does to tiles in memory what the processor would do to its own. So
/// the very machine code of the kernels is tested, very slowly. On a processor that has AMX nothing
/// ends in a SIGILL, and nothing is emulated. One at a time; each thread has its own tiles.
class EmulatedTiles {
 public:
  EmulatedTiles();
  ~EmulatedTiles();
  EmulatedTiles(const EmulatedTiles&) = delete;
  EmulatedTiles& operator=(const EmulatedTiles&) = delete;

 private:
  struct sigaction before_;
};
