"""Control Ralf: joint loop, two time scales, shaped and planned motions, a push, and the control law of home."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

import supple
from supple import control
from supple.reduced.time.begin import quasi_static
from supple.results.closed_loop import ClosedLoop
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

SAMPLE = 1e-3  # s
GAIN, ZETA = 10.0, 0.3  # 1/s of the joints; damping ratio added to both modes
UNKNOWN, DEAF = (
    0.2,
    {"imu.x": 0.1, "imu.z": 0.1},
)  # m/s²: process noise, and noise that suppresses 36 Hz
EXACT = 0.002  # m/s²: process noise of a filter with an exact model
DAMPING = (3.347, 2.514e-5)  # 1/s and s: Rayleigh damping of the tubes, 1 % at 6.0 and 36.5 Hz
PAYLOADS = (12.0, 10.8, 13.2)  # kg
PUSH, LASTS = 200.0, 0.05  # N, s
IMU, TIP = ("imu.x", "imu.z"), ("tip.x", "tip.z")
WITHIN = 1e-3  # m
ALONE, FAST, ZV, PLANNED, FAST_ZV, FAST_PLANNED = (
    "joint loop alone", "two time scales", "ZV", "rest to rest", "two time scales, ZV", "two time scales, rest to rest",
)  # fmt: skip
COLORS = {ALONE: "#c8553d", FAST: "#3b6ea8", FAST_ZV: "#4f8f5b", FAST_PLANNED: "#b8862b"}
FILE = Path(__file__).with_name("mechanism.yaml")


class Laws(NamedTuple):
    """joints : encoders only; fast : with δ_qs of the motion; planned : with δ_d of a planned motion."""

    joints: control.AffineLaw
    fast: control.AffineLaw
    planned: control.AffineLaw


class Case(NamedTuple):
    """Control law, its reference, and the end time of the reference, s."""

    law: control.AffineLaw
    motion: Any
    end: float


class Shown(NamedTuple):
    """Run, and the end time of its motion, s."""

    loop: ClosedLoop
    end: float


def main(output: Path) -> None:
    model = supple.reduce(supple.load(FILE), internal_modes=2, tolerance=1e-4, preload=False)
    observer, made = laws(model)
    shown = table(model, made)
    pushed = {name: push(law) for name, law in ((ALONE, made.joints), (FAST, made.fast))}
    print(f"\na push of {PUSH:g} N for {LASTS * 1e3:g} ms, at rest")
    for name, run in pushed.items():
        print(f"  {name:<32} {figures(run, LASTS)}")
    home_alone(observer, made, model)
    watch(observer, model, made.joints)
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(shown, pushed), output / "control.png")


def laws(model: supple.ReducedModel) -> tuple[control.KalmanFilter, Laws]:
    """Return one filter, two control laws with it over the region, and the joint loop."""
    observer = observer_of(model)
    swing = control.reference("swing", model)

    joints = control.joint_servo(model, swing, sample_time=SAMPLE, gain=GAIN)
    fast, planned = (
        control.two_time_scales(observer, motion, gains=GAIN, damping_ratios=ZETA)
        for motion in (swing, control.add_deformation(swing, model))
    )
    return observer, Laws(joints.law, fast.law, planned.law)


def observer_of(model: supple.ReducedModel) -> control.KalmanFilter:
    """Return the filter of the controllers, which suppresses modes that the model neglects."""
    return control.kalman_filter(model, sample_time=SAMPLE, accelerations=UNKNOWN, noise=DEAF)


def own_filter(observer: control.KalmanFilter) -> control.AffineLaw:
    """Return a filter with the noise of the instruments and small process noise."""
    noise = np.array([observer.hardware.instrument(name).noise for name in observer.measured])
    return control.observer_law(replace(observer, accelerations=np.full(2, EXACT), noise=noise))


def plant(payload: float = 12.0) -> supple.Mechanism:
    """Return the nonlinear flexible arm with Rayleigh damping of its tubes."""
    ralf = supple.load(FILE, parameters={"payload": payload})
    tubes = ralf.materials["aluminium"].model_copy(update={"damping": supple.Damping(rayleigh=DAMPING)})
    return ralf.replace(materials={"aluminium": tubes}, damping=None)


def cases(model: supple.ReducedModel, made: Laws, motion: str) -> dict[str, Case]:
    """Return the cases that are compared along a motion."""
    plain = control.reference(motion, model)
    shaped = control.add_deformation(control.shape_motion(plain, model), model)
    planned = control.rest_to_rest(model, plain)
    return {
        ALONE: Case(made.joints, plain, plain.end),
        FAST: Case(made.fast, plain, plain.end),
        ZV: Case(made.joints, shaped.reference, shaped.reference.end),
        PLANNED: Case(made.joints, planned.reference, plain.end),
        FAST_ZV: Case(made.planned, shaped.whole, shaped.reference.end),
        FAST_PLANNED: Case(made.planned, planned.whole, plain.end),
    }


def run(machine: supple.Mechanism | supple.ReducedModel, case: Case, after: float) -> ClosedLoop:
    """Simulate the closed loop until some time after the end of the motion."""
    start = dict(zip(("lift", "elbow"), case.motion.at(-1.0)[0][:2].tolist(), strict=True))
    until = SAMPLE * round((case.end + after) / SAMPLE)
    following = control.AffineController(case.law, case.motion)
    return control.closed_loop(machine, following, until=until, sample_time=SAMPLE, start=start)


def figures(loop: ClosedLoop, end: float) -> str:
    """Return three figures as text.

    They are the RMS acceleration of the tip in the second after the end, the settling time to 1 mm after it, and the
    mean error of the last tenth of a second.
    """
    settling = loop.settling(*TIP, within=WITHIN, after=end)
    arrival = f"{settling * 1e3:8.0f} ms" if np.isfinite(settling) else f" >{(loop.time[-1] - end) * 1e3:6.0f} ms"
    off = np.linalg.norm(tip(loop.outputs)[-100:].mean(axis=0) - [loop.goal[name] for name in TIP])
    return f"{loop.residual(*IMU, after=end):7.3f} m/s² {arrival} {off * 1e3:7.3f} mm"


def table(model: supple.ReducedModel, made: Laws) -> dict[str, dict[str, Shown]]:
    """Simulate every case along every motion; return the runs with the payload of the model."""
    kept: dict[str, dict[str, Shown]] = {}
    for motion in ("swing", "hurry", "across"):
        tried = cases(model, made, motion)
        for payload in PAYLOADS if motion != "across" else PAYLOADS[:1]:
            machine, alone = plant(payload), np.inf
            print(f"\n{motion}, {payload:g} kg at the tip")
            for name, case in tried.items():
                loop = run(machine, case, 9.5 if name == ALONE else 1.5)
                residual = loop.residual(*IMU, after=case.end)
                alone = residual if name == ALONE else alone
                print(f"  {name:<32} {figures(loop, case.end)}   1/{alone / residual:.0f}", flush=True)
                if payload == PAYLOADS[0]:
                    kept.setdefault(motion, {})[name] = Shown(loop, case.end)
    return kept


def push(law: control.AffineLaw, until: float = 9.0) -> ClosedLoop:
    """Push the tip down at home, by an actuator that no controller drives."""
    arm = plant()
    far = supple.Frame(on="ground", at=(4.1069, 1000.0))
    hammer = supple.Actuator(between=("sky", "T"))
    arm = arm.replace(frames={**arm.frames, "sky": far}, actuators={**arm.actuators, "hammer": hammer},
                      coordinates=("lift", "elbow"))  # fmt: skip
    standing = control.Reference(("lift", "elbow"), np.array([0.0, 1.0]), np.array([[[1.15, 1.0]]]))
    return control.closed_loop(
        arm, control.AffineController(law, standing), until=until, sample_time=SAMPLE, start="home",
        disturbances={"hammer": lambda t: PUSH if t < LASTS else 0.0},
    )  # fmt: skip


def home_alone(observer: control.KalmanFilter, made: Laws, model: supple.ReducedModel) -> None:
    """Use the control law of home everywhere, with accelerations along and across link 2, and along x and z."""
    print("\ncontrol law of home alone: largest deviation of the tip from its slow path, and as above")
    turned = supple.reduce(in_world_axes(supple.load(FILE)), internal_modes=2, tolerance=1e-4, preload=False)
    other = observer_of(turned)
    for motion in ("swing", "hurry", "across"):
        wanted = control.reference(motion, model)
        fixed, far = (
            control.two_time_scales(filter_, wanted, gains=GAIN, damping_ratios=ZETA, at="home").law
            for filter_ in (observer, other)
        )
        tried = {
            "over the region": (made.fast, plant()), "home, axes of link 2": (fixed, plant()),
            "home, axes x and z": (far, in_world_axes(plant())),
        }  # fmt: skip
        for name, (law, machine) in tried.items():
            loop = run(machine, Case(law, wanted, wanted.end), 1.5)
            off = np.linalg.norm(tip(loop.outputs) - slow_tip(model, wanted, loop.time), axis=1)
            print(f"  {motion:<8} {name:<23} {off.max() * 1e3:7.1f} mm {figures(loop, wanted.end)}")


def in_world_axes(machine: supple.Mechanism) -> supple.Mechanism:
    """Replace the accelerometer by accelerations along x and z, without gravity."""
    turned = machine.sensors["imu"].model_copy(update={"axes": "world", "gravity": False})
    return machine.replace(sensors={**machine.sensors, "imu": turned})


def tip(outputs: Any) -> np.ndarray:
    """Return positions of the tip, (N, 2)."""
    return np.stack([outputs[name] for name in TIP], axis=1)


def slow_tip(model: supple.ReducedModel, motion: control.Reference, time: np.ndarray) -> np.ndarray:
    """Return the position of the tip with quasi-static deformation, (N, 2)."""
    theta, rates, accelerations, _ = np.ascontiguousarray(motion.sample(time).transpose(1, 0, 2))
    delta, here = quasi_static(model, theta, rates, accelerations), model.evaluate(theta)
    rows = [here.outputs[name] for name in TIP]
    return np.stack([row.value + (row.modes * delta).sum(axis=1) for row in rows], axis=1)


class Watched(NamedTuple):
    """Errors of an observer.

    error : RMS of δ̂ - δ relative to that of the vibration δ - δ_qs, of all modes; correlation : largest of the
    innovations at lags of 1 to 20 samples; bound : 99 % limit for white innovations.
    """

    error: float
    correlation: float
    bound: float
    estimates: control.Estimates


def watch(observer: control.KalmanFilter, model: supple.ReducedModel, joints: control.AffineLaw) -> None:
    """Evaluate the filter on undamped vibration."""
    law = own_filter(observer)
    print("\nKalman filter, joint loop alone: relative estimation error, largest correlation of innovations")
    for motion in ("reach", "swing", "hurry"):
        found = watched(law, model, joints, motion)
        print(f"  {motion:<8} {found.error:6.1%} {found.correlation:8.3f} (white: below {found.bound:.3f})")


def watched(law: control.AffineLaw, model: supple.ReducedModel, joints: control.AffineLaw, motion: str) -> Watched:
    """Apply a filter to a run of the reduced model, whose deformation is known."""
    wanted = control.reference(motion, model)
    loop = run(model, Case(joints, wanted, wanted.end), 1.0)
    stood = dict.fromkeys(("lift", "elbow"), 0.0)
    found = control.estimates(law, loop.time, loop.measured, loop.applied, wanted, before=stood)
    modes = model.layout.coordinates[2:]
    true, seen = (np.stack([signals[name] for name in modes], axis=1) for signals in (loop.coordinates, found.states))
    theta, rates, accelerations, _ = np.ascontiguousarray(wanted.sample(loop.time).transpose(1, 0, 2))
    vibration = true - quasi_static(model, theta, rates, accelerations)
    error = float(np.sqrt(((seen - true) ** 2).mean() / (vibration**2).mean()))
    e = np.stack([found.innovations[name] for name in law.measurements], axis=1)[50:]
    e = e - e.mean(axis=0)
    lags = [np.abs((e[k:] * e[:-k]).mean(axis=0) / (e * e).mean(axis=0)).max() for k in range(1, 21)]
    return Watched(error, float(max(lags)), 3.5 / np.sqrt(len(e)), found)


@in_house_style
def draw(shown: dict[str, dict[str, Shown]], pushed: dict[str, ClosedLoop]) -> Figure:
    """Draw the paper's Figure 16, with and without active damping; the push; the residual of every motion."""
    figure = new_figure(10, 7)
    (swing, far), (push_, bars) = figure.subplots(2, 2)
    for name in (ALONE, FAST):
        loop, blow = shown["swing"][name].loop, pushed[name]
        some, end = loop.time <= 3.0, loop.outputs[IMU[1]][-1]
        swing.plot(loop.time[some], loop.outputs[IMU[1]][some] - end, color=COLORS[name], label=name, linewidth=0.9)
        off = np.linalg.norm(tip(loop.outputs) - [loop.goal[item] for item in TIP], axis=1) * 1e3
        far.semilogy(loop.time, np.maximum(off, 1e-2), color=COLORS[name], linewidth=0.9)
        some, still = blow.time <= 2.0, tip(blow.outputs)[0]
        push_.plot(blow.time[some], (tip(blow.outputs)[some, 1] - still[1]) * 1e3, color=COLORS[name], linewidth=0.9)
    swing.set(xlabel="time / s: swing lasts 1 s", ylabel="imu.z, less its weight / m/s²")
    far.axhline(1.0, color="#888888", linewidth=0.8, linestyle="--")
    far.set(xlabel="time / s", ylabel="tip from its goal / mm", xlim=(0.0, 9.0), ylim=(0.05, 2000.0))
    push_.set(xlabel=f"time / s: pushed by {PUSH:g} N for {LASTS * 1e3:g} ms, standing", ylabel="tip.z / mm")
    legend_above(swing)
    for i, runs in enumerate(shown.values()):
        for k, (name, color) in enumerate(COLORS.items()):
            value = runs[name].loop.residual(*IMU, after=runs[name].end)
            bars.bar(i + 0.2 * (k - 1.5), value - 1e-2, 0.18, color=color, label="" if i else name, bottom=1e-2)
    bars.set(yscale="log", xticks=range(len(shown)), xticklabels=list(shown), ylabel="left in the second after / m/s²",
             ylim=(1e-2, 500.0))  # fmt: skip
    bars.legend(fontsize=8, ncols=2, loc="upper center")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/ralf"), help="folder for the picture")
    main(parser.parse_args().output)
