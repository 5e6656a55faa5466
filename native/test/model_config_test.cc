// Entries of config.json: accepted values, and error messages.
#include "backend/model_config.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "common/error.h"

namespace backend {
namespace {

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const common::LoadError& error) {
    return error.what();
  }
  return "no error";
}

/// The received value in an error message.
std::string received(double value) {
  const ModelConfig entries({{"size", value}});
  return message_of([&] { entries.positive_integer("size"); });
}

TEST(ModelConfig, ShowsNumbersAsTheyAre) {
  EXPECT_EQ(received(1099511627776),
            "config.json: size: expected a positive integer, received "
            "1099511627776");
  EXPECT_EQ(received(1e308), "config.json: size: expected a positive integer, received 1e+308");
  EXPECT_EQ(received(-0.5), "config.json: size: expected a positive integer, received -0.5");
}

TEST(ModelConfig, BoundsWhatNoWeightBounds) {
  const ModelConfig entries({{"layers", 1001.0},
                             {"negative", -1.0},
                             {"large", 1e300},
                             {"infinite", std::numeric_limits<double>::infinity()}});
  EXPECT_EQ(message_of([&] { entries.layer_count("layers"); }),
            "config.json: layers: expected at most 1000, received 1001");
  EXPECT_EQ(message_of([&] { entries.count_or("negative", 0); }),
            "config.json: negative: expected 0 or more, received -1");
  EXPECT_EQ(message_of([&] { entries.epsilon_or("large", 0); }),
            "config.json: large: expected a number from 0 to 1, received 1e+300");
  EXPECT_EQ(message_of([&] { entries.positive_number_or("infinite", 1); }),
            "config.json: infinite: expected a number above 0, received inf");
}

ModelConfig config() {
  return ModelConfig({{"hidden_size", 384.0},
                      {"half", 0.5},
                      {"negative", -1.0},
                      {"name", std::string("gelu")},
                      {"flag", true},
                      {"list.0", std::string("c2p")},
                      {"list.1", std::string("p2c")},
                      {"joined", std::string("P2C | c2p")},
                      {"nothing", std::monostate()}});
}

TEST(ModelConfig, ReadsEntries) {
  EXPECT_EQ(config().positive_integer("hidden_size"), 384);
  EXPECT_EQ(config().integer_or("negative", 3), -1);
  EXPECT_EQ(config().integer_or("absent", 3), 3);
  EXPECT_EQ(config().integer_or("nothing", 3), 3);
  EXPECT_EQ(config().number_or("half", 1), 0.5);
  EXPECT_EQ(config().string_or("name", "relu"), "gelu");
  EXPECT_EQ(config().string_or("absent", "relu"), "relu");
  EXPECT_TRUE(config().boolean_or("flag", false));
  EXPECT_TRUE(config().boolean_or("absent", true));
}

TEST(ModelConfig, ReadsListsOfStrings) {
  using Strings = std::vector<std::string>;
  EXPECT_EQ(config().strings("list"), (Strings{"c2p", "p2c"}));
  EXPECT_EQ(config().strings("joined"), (Strings{"p2c", "c2p"}));
  EXPECT_EQ(config().strings("absent"), Strings());
  EXPECT_EQ(config().strings("nothing"), Strings());
}

TEST(ModelConfig, NamesTheKeyThatIsWrong) {
  EXPECT_EQ(message_of([] { config().positive_integer("absent"); }),
            "config.json: absent: expected a positive integer, but it is missing");
  EXPECT_EQ(message_of([] { config().positive_integer("half"); }),
            "config.json: half: expected a positive integer, received 0.5");
  EXPECT_EQ(message_of([] { config().positive_integer("negative"); }),
            "config.json: negative: expected a positive integer, received -1");
  EXPECT_EQ(message_of([] { config().positive_integer("name"); }),
            "config.json: name: expected a positive integer, received \"gelu\"");
  EXPECT_EQ(message_of([] { config().integer_or("flag", 1); }),
            "config.json: flag: expected an integer, received true");
  EXPECT_EQ(message_of([] { config().number_or("name", 1); }),
            "config.json: name: expected a number, received \"gelu\"");
  EXPECT_EQ(message_of([] { config().string_or("half", "x"); }),
            "config.json: half: expected a string, received 0.5");
  EXPECT_EQ(message_of([] { config().boolean_or("half", true); }),
            "config.json: half: expected true or false, received 0.5");
  EXPECT_EQ(message_of([] { config().strings("half"); }),
            "config.json: half: expected a string, received 0.5");
}

TEST(ModelConfig, ShowsTheNumberThatStandsThere) {
  for (const auto& [number, shown] :
       {std::pair{100.0, "100"}, {0.0, "0"}, {-20.5, "-20.5"}, {1e300, "1e+300"}}) {
    const ModelConfig config({{"name", number}});
    EXPECT_EQ(message_of([&] { config.string_or("name", ""); }),
              std::string("config.json: name: expected a string, received ") + shown);
  }
}

TEST(ModelConfig, RequiresOneOfTheSupportedValues) {
  EXPECT_EQ(message_of([] { config().require_one_of("name", {"relu", "gelu"}); }), "no error");
  EXPECT_EQ(message_of([] { config().require_one_of("absent", {"relu"}); }), "no error");
  EXPECT_EQ(message_of([] { config().require_one_of("name", {"relu", "tanh"}); }),
            "config.json: name: expected relu or tanh, received \"gelu\"");
}

}  // namespace
}  // namespace backend
