"""Distribution of computations: in this process, in several processes of this machine, or on a cluster."""
