// A reduced model exported by supple (prefix `code`) as a simulated machine: takes forces from the topic `efforts`, steps
// in real time, and publishes `joint_states`. No hardware and no physics engine is needed.

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <memory>
#include <string>
#include <vector>

#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/joint_state.hpp"
#include "std_msgs/msg/float64_multi_array.hpp"

#include "code.h"

namespace supple_example
{

class Simulation : public rclcpp::Node
{
public:
  Simulation() : Node("simulation")
  {
    names_ = declare_parameter<std::vector<std::string>>("joints", std::vector<std::string>());
    const auto start = declare_parameter<std::vector<double>>("start", std::vector<double>());
    step_ = declare_parameter<double>("step", 1e-3);
    if (names_.size() != CODE_THETA || start.size() != CODE_THETA) {
      throw std::invalid_argument(
        "joints and start must have " + std::to_string(CODE_THETA) + " entries, in the order of code.h");
    }
    std::copy(start.begin(), start.end(), state_);
    published_ = create_publisher<sensor_msgs::msg::JointState>("joint_states", 10);
    efforts_ = create_subscription<std_msgs::msg::Float64MultiArray>(
      "efforts", 10, [this](const std_msgs::msg::Float64MultiArray::SharedPtr message) {
        if (message->data.size() != CODE_INPUTS) {
          RCLCPP_ERROR(get_logger(), "efforts must have %d numbers (got %zu)", CODE_INPUTS, message->data.size());
          return;
        }
        std::copy(message->data.begin(), message->data.end(), inputs_);
      });
    timer_ = create_wall_timer(std::chrono::duration<double>(step_), [this]() { advance(); });
  }

  void advance()
  {
    const int status = code_step_implicit(nullptr, state_, inputs_, step_);
    if (status != CODE_INSIDE && status != CODE_CLAMPED) {  // the state is unchanged
      RCLCPP_ERROR(get_logger(), "the model refused a step (status %d): outside its region, or NaN; stopped", status);
      timer_->cancel();
      return;
    }
    sensor_msgs::msg::JointState message;
    message.header.stamp = now();
    message.name = names_;
    message.position.assign(state_, state_ + CODE_THETA);
    message.velocity.assign(state_ + CODE_COORDINATES, state_ + CODE_COORDINATES + CODE_THETA);
    message.effort.assign(inputs_, inputs_ + CODE_INPUTS);
    published_->publish(message);
  }

private:
  std::vector<std::string> names_;
  double step_ = 1e-3, state_[CODE_STATES]{}, inputs_[CODE_INPUTS]{};
  rclcpp::Publisher<sensor_msgs::msg::JointState>::SharedPtr published_;
  rclcpp::Subscription<std_msgs::msg::Float64MultiArray>::SharedPtr efforts_;
  rclcpp::TimerBase::SharedPtr timer_;
};

}  // namespace supple_example

#ifndef SUPPLE_TEST
int main(int argc, char ** argv)
{
  rclcpp::init(argc, argv);
  rclcpp::spin(std::make_shared<supple_example::Simulation>());
  rclcpp::shutdown();
  return 0;
}
#endif
