// See rclcpp/rclcpp.hpp.
#pragma once
#include <memory>
#include <type_traits>
#define PLUGINLIB_EXPORT_CLASS(Class, Base)                               \
  static_assert(std::is_base_of<Base, Class>::value, "not of this base"); \
  std::shared_ptr<Base> make_plugin() { return std::make_shared<Class>(); }
