// Declarations of our own with the names and types of ROS 2 that the example uses, so that it can be compiled and driven
// where ROS 2 is not installed. They are no part of ROS 2 and do nothing but keep what they are given.
#pragma once
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace rclcpp
{
struct Time
{
  double seconds = 0.0;
};
struct Duration
{
  double seconds = 0.0;
};
struct Logger
{
};
template <typename... Given>
void print_error(const Logger &, const char * format, Given... given)
{
  std::fprintf(stderr, format, given...);
  std::fputc('\n', stderr);
}
#define RCLCPP_ERROR(logger, ...) rclcpp::print_error(logger, __VA_ARGS__)

using Value = std::variant<double, std::vector<double>, std::vector<std::string>>;
inline std::map<std::string, Value> overrides;  // parameters that a test sets

struct Parameter
{
  Value value;
  std::vector<std::string> as_string_array() const { return std::get<std::vector<std::string>>(value); }
};

template <typename Message>
struct Subscription
{
  using SharedPtr = std::shared_ptr<Subscription>;
  std::function<void(typename Message::SharedPtr)> callback;
};
template <typename Message>
struct Publisher
{
  using SharedPtr = std::shared_ptr<Publisher>;
  std::vector<Message> published;
  void publish(const Message & message) { published.push_back(message); }
};
struct TimerBase
{
  using SharedPtr = std::shared_ptr<TimerBase>;
  bool canceled = false;
  void cancel() { canceled = true; }
};

inline std::shared_ptr<void> last_subscription, last_publisher, last_timer;  // for the test

class Node
{
public:
  explicit Node(const std::string &) {}
  Logger get_logger() const { return {}; }
  Time now() const { return {}; }
  template <typename T>
  T declare_parameter(const std::string & name, const T & value)
  {
    parameters_[name] = overrides.count(name) ? overrides[name] : Value(value);
    return std::get<T>(parameters_[name]);
  }
  Parameter get_parameter(const std::string & name) const { return {parameters_.at(name)}; }
  template <typename Message, typename Callback>
  typename Subscription<Message>::SharedPtr create_subscription(const std::string &, int, Callback callback)
  {
    auto made = std::make_shared<Subscription<Message>>();
    made->callback = callback;
    last_subscription = made;
    return made;
  }
  template <typename Message>
  typename Publisher<Message>::SharedPtr create_publisher(const std::string &, int)
  {
    auto made = std::make_shared<Publisher<Message>>();
    last_publisher = made;
    return made;
  }
  template <typename Callback>
  TimerBase::SharedPtr create_wall_timer(std::chrono::duration<double>, Callback)
  {
    auto made = std::make_shared<TimerBase>();
    last_timer = made;
    return made;
  }

private:
  std::map<std::string, Value> parameters_;
};

inline void init(int, char **) {}
inline void spin(std::shared_ptr<Node>) {}
inline void shutdown() {}
}  // namespace rclcpp
