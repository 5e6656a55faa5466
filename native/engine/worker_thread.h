// Settings of the engine's own threads. Called on the thread they are for.
#pragma once

namespace engine {

/// Against the event loop, which shares the cores with the engine's threads.
enum class Priority { kEqual, kLower };

/// Name it for debuggers and `top -H` (15 characters at most), and set its priority.
void set_up_engine_thread(const char* name, Priority priority);

}  // namespace engine
