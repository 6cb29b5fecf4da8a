// See rclcpp/rclcpp.hpp.
#pragma once
#include <memory>
#include <string>
#include <vector>
#include "rclcpp/rclcpp.hpp"
namespace sensor_msgs::msg
{
struct JointState
{
  using SharedPtr = std::shared_ptr<JointState>;
  struct
  {
    rclcpp::Time stamp;
  } header;
  std::vector<std::string> name;
  std::vector<double> position, velocity, effort;
};
}  // namespace sensor_msgs::msg
