"""Numbers of a robot from URDF: they are kept in a mechanism file of its own, since no URDF can say them."""

from numpy.testing import assert_allclose

import supple

ARM = """<robot name="arm"><link name="base"/>
<link name="boom">
	<inertial><origin xyz="0.5 0 0"/><mass value="2"/>
	<inertia ixx="0.01" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="boom"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="9" velocity="9"/></joint></robot>
"""
BESIDE = "urdf: arm.urdf\njoints: {turn: {drive: {stiffness: 2000}, motor: {inertia: 1e-4, gear: 50}}}\n"


def test_what_is_found_is_written_and_read_again(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "machine.yaml").write_text(BESIDE)
    machine = supple.load(tmp_path / "machine.yaml")
    true = 1.05 * supple.modes(machine, count=1, preload=False).frequencies_hz
    found = supple.update(machine, [supple.Measurement(frequencies_hz=true)], ["turn.drive"], prior=None)
    (tmp_path / "other").mkdir()
    again = supple.load(found.save_mechanism(tmp_path / "other" / "found.yaml"))
    assert_allclose(supple.modes(again, count=1, preload=False).frequencies_hz, true, rtol=1e-5)
