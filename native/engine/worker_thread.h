// Settings of the engine's own threads. Called on the thread they are for.
#pragma once

namespace engine {

/// Name it for debuggers and `top -H` (15 characters at most), and let the event loop win: the two
/// share the cores, and a health check must not wait behind a batch.
void set_up_engine_thread(const char* name);

}  // namespace engine
