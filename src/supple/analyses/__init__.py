"""What is asked of a mechanism: simulation, inverse dynamics, statics, and more as it comes."""
