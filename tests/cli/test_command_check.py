"""`supple check`."""

from __future__ import annotations


def test_it_lists_what_it_understood(supple, four_bar):
    found = supple("check", four_bar, "--json").object
    assert found["bodies"] == ["crank", "coupler", "follower"]
    assert found["joints"] == ["A", "B", "E", "D"]
    assert [sorted(loop) for loop in found["loops"]] == [["A", "B", "D", "E"]]
    assert found["actuated"] == ["crank"]
    assert found["coordinates"] == ["crank"]
    assert (found["mobility"], found["redundant_constraints"]) == (1, 0)
    assert found["instantaneous_mobility"] == 1
    assert found["singular_at_rest"] is False
    assert 0 < found["singularity"] < 1
    assert found["notes"] == []


def test_it_is_readable(supple, four_bar):
    said = supple("check", four_bar)
    assert said.status == 0
    assert "four-bar (planar, xz)" in said.out
    assert "mobility       1" in said.out
    assert said.err == ""


def test_notes_are_said_in_both_forms(supple, four_bar):
    four_bar.write_text(four_bar.read_text().replace("limits: [-1.75, 1.75]", "limits: [1, 1.75]"))
    assert 'note: at rest actuator "crank" is at' in supple("check", four_bar).out
    assert 'actuator "crank"' in supple("check", four_bar, "--json").object["notes"][0]


def test_parameters_can_be_set(supple, four_bar):
    said = supple("check", four_bar, "--set", "ground=3", "--json")
    assert said.status == 1
    assert "does not close" in said.object["error"]["text"]
    assert supple("check", four_bar, "--set", "ground=0.9 m", "--set", "crank=ground/2").status == 0


def test_a_parameter_that_is_not_there_is_refused(supple, four_bar):
    said = supple("check", four_bar, "--set", "crnk=3")
    assert said.status == 1
    assert 'unknown parameter "crnk"; did you mean "crank"?' in said.err


def test_a_wrong_value_of_a_parameter_is_not_blamed_on_the_file(supple, four_bar):
    said = supple("check", four_bar, "--set", "crank=1/0")
    assert said.status == 1
    assert said.err == 'error: parameter "crank": division by zero in "1/0"\n'


def test_a_setting_without_a_value_is_a_wrong_command_line(supple, four_bar):
    assert supple("check", four_bar, "--set", "crank").status == 2


def test_a_bundled_example_goes_by_its_name(supple, folder):
    said = supple("check", "orthoglide", "--json")
    assert said.object["mobility"] == 3
    assert said.err == 'note: using the bundled example "orthoglide"\n'


def test_a_file_comes_before_an_example(supple, folder, four_bar):
    four_bar.rename("orthoglide")
    said = supple("check", "orthoglide", "--json")
    assert said.object["mobility"] == 1
    assert said.err == ""


def test_a_name_that_is_nothing_lists_the_examples(supple, folder):
    said = supple("check", "orthoglid")
    assert said.status == 1
    assert said.err.startswith("error: orthoglid: no such file or bundled example")
    assert 'did you mean "orthoglide"' in said.err


def test_drives_and_instruments_are_listed(supple, folder):
    """Those that are alike stand in one line; in JSON each has its own words."""
    (folder / "cart.yaml").write_text(
        "supple: 1\nname: cart\nplane: xz\npoints: {O: [0, 0]}\nbodies: {cart: {mass: 2, center: [0, 0]}}\n"
        "joints: {rail: {prismatic: [ground, cart], at: O, axis: x}}\n"
        "actuators: {rail: {joint: rail, drive: {velocity: {frequency: 20 Hz}, limits: [-1, 1]}}}\n"
        "sensors: {a: {joint: rail, noise: 0.1 mm, delay: 2 ms}, b: {joint: rail, noise: 0.1 mm, delay: 2 ms}}\n"
    )
    done = supple("check", "cart.yaml")
    assert "drives         1\n                   rail: velocity drive (m/s), prescribes motion\n" in done.out
    assert "instruments    2\n                   a, b: noise 0.0001, delay 2 ms\n" in done.out
    found = supple("check", "cart.yaml", "--json").object
    assert found["drives"] == {"rail": "velocity drive (m/s), prescribes motion"}
    assert found["instruments"] == dict.fromkeys("ab", "noise 0.0001, delay 2 ms")
