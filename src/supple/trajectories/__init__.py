"""Trajectories: plans of the motions in mechanism files, and motions sampled over time."""
