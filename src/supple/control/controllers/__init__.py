"""Controllers, one file each, with what several share: the law of joint loops, and forces asked of actuators."""
