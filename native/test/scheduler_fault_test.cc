// Behavior of the scheduler if memory or threads are not available.
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "echo_backend.h"
#include "injected_faults.h"

namespace scheduler::test {
namespace {

/// Minimum number of allocations of a request that are made to fail, one per round.
constexpr size_t kPlaces = 100;

/// Outcomes of the requests of one round.
struct Outcomes {
  size_t answered = 0;
  size_t failed = 0;
  size_t refused = 0;  ///< submit() threw
};

class SchedulerFaultTest : public testing::Test {
 protected:
  ~SchedulerFaultTest() override { faults::fail_allocation(0); }

  CompletionHandler handler() {
    return [this, collect = ended.handler()](Completions completions) {
      const faults::Counting not_here(false);
      collect(std::move(completions));
    };
  }

  /// Returns the ticket; empty if submit() has thrown std::bad_alloc. Only allocations of submit()
  /// count.
  std::optional<uint64_t> submit(ModelQueue& queue, const std::string& text) {
    const uint64_t ticket = ++last_ticket;
    InputPtr input = input_of(Text{.text = text});
    try {
      const faults::Counting here(true);
      EXPECT_EQ(test::submit(queue, ticket, std::move(input), kNever), Status::kOk);
      return ticket;
    } catch (const std::bad_alloc&) {
      return std::nullopt;
    }
  }

  /// Submits three requests while the worker is busy; one of their allocations fails.
  Outcomes run_round(ModelQueue& queue, size_t failing_place) {
    backend->hold();
    const size_t begun = backend->begun();
    const auto occupying = submit(queue, "0");
    backend->await_running(begun + 1);
    faults::fail_allocation(failing_place);
    Outcomes outcomes;
    std::vector<std::pair<uint64_t, float>> accepted{{occupying.value_or(0), 0.0F}};
    for (const float number : {7.0F, 8.0F, 9.0F}) {
      const auto ticket = submit(queue, std::to_string(static_cast<int>(number)));
      if (ticket) accepted.emplace_back(*ticket, number);
      outcomes.refused += ticket ? 0 : 1;
    }
    backend->release();
    for (const auto& [ticket, number] : accepted) {
      const Completion completion = ended.of(ticket);
      if (completion.status == Status::kOk) {
        EXPECT_EQ(completion.output.values, (std::vector<float>{number, 1}));
        ++outcomes.answered;
      } else {
        EXPECT_EQ(completion.status, Status::kFailed);
        EXPECT_EQ(completion.message, "out of memory");
        ++outcomes.failed;
      }
    }
    return outcomes;
  }

  /// Repeats rounds with a later failing allocation until a round makes fewer allocations; kPlaces
  /// rounds at least.
  void fail_every_place(const Options& options) {
    ModelQueue queue(a_scheduler(), backend, options, handler());
    uint64_t answered = 0;
    uint64_t failed = 0;
    size_t place = 1;
    for (bool reached = true; reached || place <= kPlaces; ++place) {
      const Outcomes outcomes = run_round(queue, place);
      reached = faults::allocations() >= place;
      faults::fail_allocation(0);
      ASSERT_LE(outcomes.failed + outcomes.refused, 1U) << "place " << place;
      ASSERT_EQ(queue.statistics().queue_requests, 0U) << "place " << place;
      ASSERT_EQ(queue.statistics().queue_bytes, 0U) << "place " << place;
      const auto next = submit(queue, "3");
      ASSERT_TRUE(next.has_value());
      ASSERT_EQ(ended.of(*next).output.values, (std::vector<float>{3, 1})) << "place " << place;
      answered += outcomes.answered + 1;  // and the request after the round
      failed += outcomes.failed;
    }
    queue.close();
    EXPECT_GT(failed, 0U);
    EXPECT_EQ(ended.repeated(), 0U);
    EXPECT_EQ(queue.statistics().completed, answered);
    EXPECT_EQ(queue.statistics().failed, failed);
    EXPECT_EQ(ended.size(), answered + failed);
  }

  const faults::Counting not_on_this_thread{false};
  std::shared_ptr<EchoBackend> backend = std::make_shared<EchoBackend>();
  Collector ended;
  uint64_t last_ticket = 0;
};

TEST_F(SchedulerFaultTest, AFailedAllocationAffectsOneRequestOnly) {
  fail_every_place({.workers = 1, .max_queue_requests = 4});
}

TEST_F(SchedulerFaultTest, AFailedAllocationWithoutPreparation) {
  backend->needs_preparation = false;
  fail_every_place({.workers = 1, .max_queue_requests = 4});
}

/// Completions do not allocate, so waiting clients get a response without memory.
TEST_F(SchedulerFaultTest, CompletingAnExpiredRequestDoesNotAllocate) {
  backend->needs_preparation = false;
  ModelQueue queue(a_scheduler(), backend, {.workers = 1}, handler());
  backend->hold();
  submit(queue, "0");
  backend->await_running(1);
  const auto cancelled = submit(queue, "1");
  test::submit(queue, 77, Text{.text = "2"}, Clock::now());
  faults::fail_allocation(1);
  {
    const faults::Counting here(true);
    queue.cancel(cancelled.value_or(0));
  }
  EXPECT_EQ(ended.of(cancelled.value_or(0)).status, Status::kCancelled);
  backend->release();
  EXPECT_EQ(ended.of(77).status, Status::kDeadlineExceeded);
  faults::fail_allocation(0);
}

TEST_F(SchedulerFaultTest, AbandoningARunDoesNotAllocate) {
  Completion hung;
  do {
    backend = std::make_shared<EchoBackend>();
    ModelQueue queue(a_scheduler(), backend,
                     {.workers = 1, .run_limit = std::chrono::milliseconds(20)}, handler());
    backend->hold();
    test::submit(queue, ++last_ticket, Text{.text = "1"}, kNever);
    backend->await_running(1);
    faults::fail_allocation(1);  // an allocation of the watchdog, if there is one
    hung = ended.of(last_ticket);
    faults::fail_allocation(0);
    backend->release();
    ASSERT_EQ(hung.status, Status::kTimedOut);
  } while (hung.message != "ran too long");
  EXPECT_EQ(ended.repeated(), 0U);
}

TEST_F(SchedulerFaultTest, DroppingRequestsDoesNotAllocate) {
  backend->needs_preparation = false;
  ModelQueue queue(a_scheduler(), backend, {.workers = 1}, handler());
  backend->hold();
  submit(queue, "0");
  backend->await_running(1);
  for (int i = 0; i < 10; ++i) submit(queue, "1");
  std::jthread aborter([&] {
    {
      const faults::Counting not_here(false);
      ended.of(last_ticket);  // dropped
    }
    backend->release();
  });
  faults::fail_allocation(1);
  {
    const faults::Counting here(true);
    queue.abort();
  }
  for (uint64_t ticket = 2; ticket <= last_ticket; ++ticket) {
    EXPECT_EQ(ended.of(ticket).status, Status::kDraining);
  }
}

TEST_F(SchedulerFaultTest, TheConstructorThrowsIfAThreadCannotBeStarted) {
  constexpr size_t kThreads = 5;  // the watchdog, two workers, two tokenization threads
  for (size_t place = 1; place <= kThreads; ++place) {
    faults::fail_thread(place);
    EXPECT_THROW(ModelQueue(a_scheduler(), backend, {.workers = 2}, handler()), std::system_error)
        << place;
  }
  faults::fail_thread(kThreads + 1);
  ModelQueue queue(a_scheduler(), backend, {.workers = 2}, handler());
  faults::fail_thread(0);
  const auto ticket = submit(queue, "5");
  EXPECT_EQ(ended.of(ticket.value_or(0)).output.values, (std::vector<float>{5, 1}));
}

TEST_F(SchedulerFaultTest, AMissingOutputFailsTheRequest) {
  backend->forgetful = true;
  ModelQueue queue(a_scheduler(), backend, {.workers = 1}, handler());
  const auto ticket = submit(queue, "5");
  const Completion completion = ended.of(ticket.value_or(0));
  EXPECT_EQ(completion.status, Status::kFailed);
  EXPECT_EQ(completion.message, "the model returned fewer outputs than inputs");
}

}  // namespace
}  // namespace scheduler::test
