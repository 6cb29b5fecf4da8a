// Drives the controller and the node of examples/ros2 as ros2_control would, and prints what they do.
#define SUPPLE_TEST
#include "simulation.cpp"
#include "law_controller.cpp"

#include <cmath>

using namespace supple_example;
using Efforts = std_msgs::msg::Float64MultiArray;

int main()
{
  const rclcpp_lifecycle::State state;
  auto made = make_plugin();
  auto & controller = dynamic_cast<LawController &>(*made);
  controller.on_init();
  std::printf("unconfigured %d\n", controller.on_configure(state) == CallbackReturn::ERROR);
  rclcpp::overrides["state_interfaces"] = std::vector<std::string>{"a/position", "b/position", "a/velocity", "b/velocity"};
  rclcpp::overrides["command_interfaces"] = std::vector<std::string>{"a/effort", "b/effort"};
  controller.on_init();
  controller.rate = 500;
  std::printf("wrong rate %d\n", controller.on_configure(state) == CallbackReturn::ERROR);
  controller.rate = 1000;
  std::printf("configured %d\n", controller.on_configure(state) == CallbackReturn::SUCCESS);
  auto reference = std::static_pointer_cast<rclcpp::Subscription<Efforts>>(rclcpp::last_subscription);
  controller.state_interfaces_.resize(controller.state_interface_configuration().names.size());
  controller.command_interfaces_.resize(controller.command_interface_configuration().names.size());
  controller.state_interfaces_[0].value = -0.4;
  controller.state_interfaces_[1].value = 0.5;
  std::printf("active %d\n", controller.on_activate(state) == CallbackReturn::SUCCESS);
  auto wanted = std::make_shared<Efforts>();
  wanted->data.assign(CODE_LAW_PREVIEWS * 4 * CODE_LAW_COORDINATES, 0.0);
  wanted->data[0] = -0.3;
  wanted->data[1] = 0.45;
  reference->callback(wanted);
  const auto print = [&](const char * name, return_type status) {
    std::printf("%s %d %.17g %.17g\n", name, status == return_type::OK, controller.command_interfaces_[0].value,
                controller.command_interfaces_[1].value);
  };
  print("command", controller.update({}, {}));
  controller.state_interfaces_[2].value = std::nan("");
  print("held", controller.update({}, {}));
  return_type last = return_type::OK;
  for (int i = 0; i < 10; ++i) last = controller.update({}, {});
  print("failed", last);

  rclcpp::overrides["joints"] = std::vector<std::string>{"shoulder", "elbow"};
  rclcpp::overrides["start"] = std::vector<double>{-0.4, 0.5};
  Simulation simulation;
  auto states = std::static_pointer_cast<rclcpp::Publisher<sensor_msgs::msg::JointState>>(rclcpp::last_publisher);
  auto timer = std::static_pointer_cast<rclcpp::TimerBase>(rclcpp::last_timer);
  auto efforts = std::static_pointer_cast<rclcpp::Subscription<Efforts>>(rclcpp::last_subscription);
  auto pushed = std::make_shared<Efforts>();
  pushed->data = {1.0, -2.0};
  efforts->callback(pushed);
  for (int i = 0; i < 20; ++i) simulation.advance();
  const auto & message = states->published.back();
  std::printf("moved %zu %.17g %.17g %.17g %.17g\n", states->published.size(), message.position[0], message.position[1],
              message.velocity[0], message.velocity[1]);
  pushed->data[0] = std::nan("");
  efforts->callback(pushed);
  simulation.advance();
  std::printf("stopped %d %zu\n", timer->canceled, states->published.size());
  return 0;
}
