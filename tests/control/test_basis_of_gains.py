"""Gains, states and models remember the basis of their elastic states; rigid controllers do not see any."""

import numpy as np
import pytest
from flexible_arm import HOME, five_bar, model
from numpy.testing import assert_allclose

import supple
from supple import control


def gain(linear):
    n, m = linear.B.shape
    return control.lqr(linear, Q=np.eye(n), R=1e-2 * np.eye(m))


def test_a_linear_model_in_the_basis_of_a_reduced_one_has_its_states():
    """Signs and all: outputs per mode and inertia are those of the reduced model, to its tolerance."""
    reduced = model()
    theirs, ours = reduced.linearize(HOME), supple.linearize(five_bar(), HOME, basis=reduced)
    assert theirs.states == ours.states
    assert theirs.basis == ours.basis == reduced.basis
    assert_allclose(ours.C, theirs.C, atol=1e-3 * np.abs(theirs.C).max())
    assert_allclose(ours.second_order.M, theirs.second_order.M, atol=1e-3 * np.abs(theirs.second_order.M).max())
    assert_allclose(ours.modes().frequencies_hz, theirs.modes().frequencies_hz, rtol=5e-3)  # tolerance, and sag
    assert ours.discretize(1e-3).basis == ours.basis
    local = supple.local(five_bar(), HOME, internal_modes=2, tracking="subspace")
    assert local.basis == reduced.basis  # both from the rest
    assert supple.linearize(five_bar(), HOME, basis=local).states == ours.states


@pytest.mark.slow
def test_the_name_of_a_basis_is_germ_tracking_modes_and_mechanism():
    reduced, made = model(), five_bar()
    rest = supple.assemble(made).coordinates
    assert reduced.basis.germ == pytest.approx({name: float(value) for name, value in rest.items()})
    assert (reduced.basis.tracking, reduced.basis.internal, reduced.basis.constraint) == ("subspace", 2, ())
    assert str(reduced.basis).startswith("2 internal modes by subspace from A=2.1, E=1.04 [")
    assert model("home").basis != reduced.basis
    assert supple.linearize(made, "home", internal_modes=2).basis == model("home").basis
    assert supple.local(made, "home", internal_modes=2).basis.germ == {}  # by frequency, wherever it is
    assert supple.local(made.replace(name="other", configurations={}, scenarios={}), internal_modes=2).basis == (
        supple.local(made, internal_modes=2).basis
    )
    heavier = made.replace(point_masses={"load": {"at": "bc.C", "mass": 0.1}})
    assert supple.local(heavier, internal_modes=2).basis != supple.local(made, internal_modes=2).basis
    assert supple.linearize(made, rigid=True).basis is None


def test_a_gain_of_one_basis_is_refused_on_a_model_of_another():
    reduced, other = model(), model("home")
    designed = gain(supple.linearize(five_bar(), "home", basis=reduced))
    assert designed.basis == reduced.basis
    run = control.closed_loop(reduced, designed.regulator(), until=0.01, sample_time=1e-3, start="home")
    assert run.complete
    for plant, start in ((other, "home"), (other.linearize("home"), None)):
        with pytest.raises(supple.InputError) as refused:
            control.closed_loop(plant, designed.regulator(), until=0.01, sample_time=1e-3, start=start)
        assert str(reduced.basis) in str(refused.value)
        assert str(other.basis) in str(refused.value)


def test_a_state_of_one_basis_is_refused_on_a_model_of_another():
    reduced, other = model(), model("home")
    state = reduced.linearize("home").at["states"]
    run = reduced.simulate(0.01, reduced.linearize("home").at["inputs"], state)
    assert_allclose(run.coordinates["mode1"], state["mode1"], rtol=1e-6)  # at rest
    for take in (
        lambda: other.simulate(0.01, None, state),
        lambda: gain(other.linearize("home")).regulator(state),
        lambda: control.closed_loop(other.linearize("home"), gain(other.linearize("home")).regulator(), until=0.01,
                                    sample_time=1e-3, start=state),
    ):  # fmt: skip
        with pytest.raises(supple.InputError, match="in the basis of"):
            take()


def test_what_is_no_basis_for_a_mechanism_is_told():
    heavier = five_bar().replace(point_masses={"load": {"at": "bc.C", "mass": 0.1}})
    rigid = model(rigid=True)
    for take, words in (
        (
            lambda: supple.linearize(heavier, basis=model()),
            r"basis: .*another mechanism: 2 internal .* this one is 2 internal .*; load the mechanism",
        ),
        (lambda: supple.linearize(five_bar(), internal_modes=1, basis=model()), r"basis defines the modes; leave out"),
        (lambda: supple.linearize(five_bar(), basis=rigid), "it is rigid"),
    ):
        with pytest.raises(supple.InputError, match=words):
            take()


# ------------------------------------------------------------------------------- controllers that know no deformation


def test_a_rigid_controller_holds_a_flexible_plant():
    """Computed torque of the rigid mechanism sees θ alone; the arms bend by what they carry, and it stays at home."""
    wanted = np.array([HOME["A"], HOME["E"]])
    controller = control.computed_torque(five_bar(), lambda _: (wanted, np.zeros(2), np.zeros(2)), 30.0, rigid=True)
    run = control.closed_loop(model(), controller, until=0.1, sample_time=1e-3, start="home")
    assert run.complete
    assert_allclose([run.coordinates["A"][-1], run.coordinates["E"][-1]], wanted, atol=2e-3)
    assert np.abs(run.coordinates["mode1"]).max() > 0.0


@pytest.mark.slow
def test_it_drives_its_own_actuators_of_a_plant_with_more_inputs():
    wanted = np.array([HOME["A"], HOME["E"]])
    controller = control.computed_torque(five_bar(), lambda _: (wanted, np.zeros(2), np.zeros(2)), 30.0, rigid=True)
    loaded = model(constraint_modes=("C.x",), internal_modes=1)
    run = control.closed_loop(loaded, controller, until=0.005, sample_time=1e-3, start="home")
    assert list(run.inputs) == ["A", "E", "C.x"]
    assert not run.inputs["C.x"].any()


def test_a_gain_of_the_rigid_mechanism_feeds_back_coordinates_alone():
    """What it asks for is K (x - x₀) of θ and its rate, whatever the arms do."""
    designed = gain(supple.linearize(five_bar(), "home", rigid=True))
    controller = designed.regulator()
    run = control.closed_loop(model(), controller, until=0.01, sample_time=1e-3, start="home")
    assert run.complete
    x = np.array([[run.coordinates[name] for name in "AE"], [run.rates[name] for name in "AE"]]).reshape(4, -1)
    asked = controller.inputs[:, None] - designed.K @ (x - controller.state[:, None])
    assert_allclose([run.inputs[name] for name in "AE"], asked, rtol=1e-12)


def test_a_coordinate_that_is_not_measured_is_named():
    seen = control.Measurement(("x",), np.zeros(1), np.zeros(1))
    controller = control.computed_torque(five_bar(), lambda _: (np.zeros(2),) * 3, 1.0, rigid=True)
    with pytest.raises(supple.InputError, match=r'"A" is not measured.* 4 states.* 2 .*x'):
        controller.step(0.0, seen)
