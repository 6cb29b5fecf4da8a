// See rclcpp/rclcpp.hpp.
#pragma once
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_lifecycle/state.hpp"

namespace controller_interface
{
enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class return_type { OK, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };
struct InterfaceConfiguration
{
  interface_configuration_type type;
  std::vector<std::string> names;
};
struct LoanedInterface
{
  double value = 0.0;
  double get_value() const { return value; }
  bool set_value(double given)
  {
    value = given;
    return true;
  }
};

class ControllerInterface
{
public:
  virtual ~ControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
  virtual return_type update(const rclcpp::Time &, const rclcpp::Duration &) = 0;
  std::shared_ptr<rclcpp::Node> get_node() const { return node_; }
  unsigned int get_update_rate() const { return rate; }
  template <typename T>
  T auto_declare(const std::string & name, const T & value)
  {
    return node_->declare_parameter<T>(name, value);
  }

  unsigned int rate = 1000;  // set by the test
  std::vector<LoanedInterface> command_interfaces_, state_interfaces_;

private:
  std::shared_ptr<rclcpp::Node> node_ = std::make_shared<rclcpp::Node>("controller");
};
}  // namespace controller_interface
