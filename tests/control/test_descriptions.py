"""What is printed of the objects of control is a line each, however large they are."""

import numpy as np

import supple
from supple import control


def still(t):
    return (np.zeros(2),) * 3


def test_everything_is_told_in_a_line(arm, linear):
    wanted = control.reference(still, arm, until=0.84)
    gain = control.decoupled_gains(linear, 5.0)
    law = gain.law(sample_time=1e-3)
    told = {
        wanted: "<Reference of shoulder, elbow, 0.84 s, 840 pieces>",
        control.reference(still, arm): "<CalledReference of shoulder, elbow, without end>",
        control.shaper("zvd", [10.0], [0.0]): "<Shaper of 3 impulses, 0.1 s>",
        gain.regulator(): "<StateFeedback of shoulder, elbow by shoulder, elbow, gains 2 x 4>",
        control.joint_pd(arm, wanted, sample_time=2e-3, frequencies=3.0):
        "<AffineController joint PD of shoulder, elbow: shoulder, elbow from shoulder, elbow, shoulder.rate, "
        "elbow.rate every 2 ms, 0 states>",
        law: "<AffineLaw state feedback: shoulder, elbow from shoulder, elbow, shoulder.rate, elbow.rate every 1 ms, "
        "0 states>",
    }  # fmt: skip
    assert {repr(item) for item in told} == set(told.values())
    for item in (law.at(), law.ports, supple.hardware_of(arm)):
        assert "\n" not in repr(item)
