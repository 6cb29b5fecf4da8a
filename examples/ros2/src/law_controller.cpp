// A control law exported by supple (prefix `code`) as a controller of ros2_control. It reads the state interfaces in the
// order of the measured values in code_law.h, follows the reference on the topic ~/reference, and writes its commands.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "controller_interface/controller_interface.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/rclcpp.hpp"
#include "realtime_tools/realtime_buffer.hpp"
#include "std_msgs/msg/float64_multi_array.hpp"

#include "code_law.h"

static_assert(CODE_LAW_ANSWERS == CODE_LAW_ACTUATORS, "the law must compute commands");
static_assert(CODE_LAW_COORDINATES > 0, "the law must follow a motion");

namespace supple_example
{

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;
using Reference = std_msgs::msg::Float64MultiArray;  // [previews][4][coordinates]: value and three derivatives

class LawController : public controller_interface::ControllerInterface
{
public:
  CallbackReturn on_init() override
  {
    auto_declare<std::vector<std::string>>("state_interfaces", {});
    auto_declare<std::vector<std::string>>("command_interfaces", {});
    return CallbackReturn::SUCCESS;
  }

  InterfaceConfiguration state_interface_configuration() const override
  {
    return {interface_configuration_type::INDIVIDUAL, states_};
  }

  InterfaceConfiguration command_interface_configuration() const override
  {
    return {interface_configuration_type::INDIVIDUAL, commands_};
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override
  {
    states_ = get_node()->get_parameter("state_interfaces").as_string_array();
    commands_ = get_node()->get_parameter("command_interfaces").as_string_array();
    if (states_.size() != CODE_LAW_MEASURED || commands_.size() != CODE_LAW_ACTUATORS) {
      RCLCPP_ERROR(
        get_node()->get_logger(), "the law has %d measured values and %d commands (got %zu and %zu interfaces)",
        CODE_LAW_MEASURED, CODE_LAW_ACTUATORS, states_.size(), commands_.size());
      return CallbackReturn::ERROR;
    }
    if (std::abs(get_update_rate() * CODE_LAW_SAMPLE_TIME - 1.0) > 1e-6) {
      RCLCPP_ERROR(
        get_node()->get_logger(), "update_rate must be %g Hz, one over the sample time of the law (got %u Hz)",
        1.0 / CODE_LAW_SAMPLE_TIME, get_update_rate());
      return CallbackReturn::ERROR;
    }
    reference_ = get_node()->create_subscription<Reference>(
      "~/reference", 1, [this](const Reference::SharedPtr message) {
        if (message->data.size() == sizeof wanted_ / sizeof(double)) received_.writeFromNonRT(message);
      });
    return CallbackReturn::SUCCESS;
  }

  // Holds the present posture until the first reference arrives. The first values are the coordinates, in order.
  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
  {
    received_.writeFromNonRT(nullptr);
    read();
    for (auto & preview : wanted_) {
      std::fill(&preview[0][0], &preview[0][0] + 4 * CODE_LAW_COORDINATES, 0.0);
      std::copy(measured_, measured_ + CODE_LAW_COORDINATES, preview[0]);
    }
    std::fill(applied_, applied_ + CODE_LAW_ACTUATORS, 0.0);
    refused_ = 0;
    const int status = code_law_start(&law_, measured_, wanted_, applied_);
    return accepted(status) ? CallbackReturn::SUCCESS : CallbackReturn::ERROR;
  }

  // No allocation and no lock. A refused sample keeps the last commands; after ten of them the controller gives up.
  return_type update(const rclcpp::Time &, const rclcpp::Duration &) override
  {
    read();
    if (const auto message = *received_.readFromRT()) {
      std::copy(message->data.begin(), message->data.end(), &wanted_[0][0][0]);
    }
    const int status = code_law_step(&law_, measured_, wanted_, applied_, applied_);
    refused_ = accepted(status) ? 0 : refused_ + 1;
    for (size_t i = 0; i < command_interfaces_.size(); ++i) (void)command_interfaces_[i].set_value(applied_[i]);
    return refused_ < 10 ? return_type::OK : return_type::ERROR;
  }

private:
  static bool accepted(int status) { return status == CODE_LAW_ANSWERED || status == CODE_LAW_CLAMPED; }

  void read()
  {
    for (size_t i = 0; i < state_interfaces_.size(); ++i) measured_[i] = state_interfaces_[i].get_value();
  }

  std::vector<std::string> states_, commands_;
  rclcpp::Subscription<Reference>::SharedPtr reference_;
  realtime_tools::RealtimeBuffer<Reference::SharedPtr> received_;
  code_law_state law_{};
  double measured_[CODE_LAW_MEASURED]{}, wanted_[CODE_LAW_PREVIEWS][4][CODE_LAW_COORDINATES]{};
  double applied_[CODE_LAW_ACTUATORS]{};
  int refused_ = 0;
};

}  // namespace supple_example

PLUGINLIB_EXPORT_CLASS(supple_example::LawController, controller_interface::ControllerInterface)
