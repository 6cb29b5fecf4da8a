"""Universal files: what supple writes opens in pyuff and the other way round, kind by kind; faults are named."""

import numpy as np
import pytest
import pyuff
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple.formats.measurements.universal_file import (
    FREQUENCY,
    TIME,
    Function,
    Shape,
    Side,
    UniversalFile,
    read_universal,
    write_universal,
)

LINES = 0.5 + np.arange(40) * 0.488758553274682
RNG = np.random.default_rng(5)
VALUES = RNG.normal(size=40) + 1j * RNG.normal(size=40)
PUSHED = Side(2, "hammer", "-z", 13, "N")


def millimetres():
    """Millimetres and millinewtons; seconds go without saying."""
    return pyuff.prepare_164(
        units_code=5, units_description="mm", temp_mode=1, length=1e3, force=1e3, temp=1.0, temp_offset=1.0
    )


def function(**changes):
    seen = Side(1, "tip", "x", 12, "m/s^2")
    made = Function(FREQUENCY, LINES, VALUES, seen, PUSHED, ("a", "b", "c", "d", "e"), 3)
    return made._replace(**changes)


def read(path):
    found = pyuff.UFF(str(path)).read_sets()
    return found if isinstance(found, list) else [found]


def theirs(tmp_path, *sets):
    """A file that pyuff wrote."""
    path = tmp_path / "theirs.uff"
    path.unlink(missing_ok=True)
    pyuff.UFF(str(path)).write_sets(list(sets), mode="add")
    return path


def set58(**changes):
    """A frequency response as others write it: node numbers, no names, units in the labels."""
    return {
        "type": 58, "func_type": 4, "rsp_node": 7, "rsp_dir": 3, "ref_node": 9, "ref_dir": -3, "x": LINES,
        "data": VALUES.copy(), "abscissa_spacing": 1, "abscissa_spec_data_type": 18, "ordinate_spec_data_type": 12,
        "ordinate_axis_units_lab": "m/s^2", "orddenom_spec_data_type": 13, "orddenom_axis_units_lab": "N", "binary": 0,
        **changes,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------ ours, read by pyuff


@pytest.mark.parametrize(("binary", "digits"), [(False, 1e-11), (True, 0.0)])
def test_pyuff_reads_our_functions(binary, digits, tmp_path):
    found = read(write_universal(tmp_path / "x.uff", UniversalFile((function(binary=binary),))))[-1]
    assert (found["type"], found["func_type"], found["binary"]) == (58, 4, int(binary))
    assert_allclose(found["data"], VALUES, rtol=digits)
    assert_allclose(found["x"], LINES, rtol=1e-5)  # the format's step has six digits
    assert (found["rsp_node"], found["rsp_dir"], found["ref_node"], found["ref_dir"]) == (1, 1, 2, -3)
    assert (found["ordinate_spec_data_type"], found["orddenom_spec_data_type"], found["func_id"]) == (12, 13, 3)
    assert (found["rsp_ent_name"], found["ordinate_axis_units_lab"], found["id4"]) == ("tip", "m/s^2", "d")


def test_pyuff_reads_our_header_units_points_and_lines(tmp_path):
    place = (0.1234567890123, -2.0, 1e-7)
    data = UniversalFile(
        points={4: place, 9: (0.0, 0.0, 1.0)}, traces=((4, 9, 0, 9),), title="a robot", description="at x"
    )
    header, units, points, line = read(write_universal(tmp_path / "x.uff", data))
    assert (header["type"], header["model_name"], header["program"]) == (151, "a robot", "supple")
    assert (units["type"], units["units_code"], units["length"], units["force"]) == (164, 1, 1.0, 1.0)
    assert points["type"] == 2411
    assert_array_equal(points["node_nums"], [4, 9])
    assert (points["x"][0], points["y"][0], points["z"][0]) == place  # 15 would have six digits
    assert line["type"] == 82
    assert_array_equal(line["nodes"], [4, 9, 0, 9])


@pytest.mark.parametrize("complex_mode", [False, True])
def test_pyuff_reads_our_mode_shapes(complex_mode, tmp_path):
    values = RNG.normal(size=(3, 3)) + 1j * complex_mode * RNG.normal(size=(3, 3))
    root = (-2.0 if complex_mode else 0.0) + 1j * 2.0 * np.pi * 12.5
    shape = Shape((1, 2, 5), values, root, 0.02, 4, complex_mode)
    found = read(write_universal(tmp_path / "x.uff", UniversalFile(shapes=(shape,))))[-1]
    assert (found["type"], found["analysis_type"], found["mode_n"]) == (55, 3 if complex_mode else 2, 4)
    assert_array_equal(found["node_nums"], [1, 2, 5])
    assert_allclose(np.stack([found[f"r{i}"] for i in (1, 2, 3)], axis=1), values, rtol=1e-5)  # six digits
    assert_allclose(found["eig"] if complex_mode else found["freq"], root if complex_mode else 12.5, rtol=1e-5)


# ------------------------------------------------------------------------------------------------ theirs, read by us


@pytest.mark.parametrize("binary", [0, 1])
def test_we_read_functions_of_pyuff(binary, tmp_path):
    found = supple.load_responses(theirs(tmp_path, set58(binary=binary), set58(rsp_node=8, binary=binary)))
    assert [one.name for one in found.responses] == ["7.z", "8.z"]
    assert [one.name for one in found.references] == ["9.-z"]
    assert_allclose(found["7.z", "9.-z"], VALUES, rtol=1e-11)
    assert (found.kind, found.notes) == ("accelerance", ())


def test_we_read_points_of_15_and_2411_alike(tmp_path):
    nodes, xyz = [7, 9], np.array([[0.5, 0.25], [1.5, 0.0], [-2.0, 0.125]])
    one = pyuff.prepare_15(node_nums=nodes, def_cs=[0, 0], disp_cs=[0, 0], color=[0, 0], x=xyz[0].tolist(),
                           y=xyz[1].tolist(), z=xyz[2].tolist())  # fmt: skip
    two = {**one, "type": 2411}
    assert read_universal(theirs(tmp_path, one)).points == read_universal(theirs(tmp_path, two)).points
    found = supple.load_responses(theirs(tmp_path, one, set58()))
    assert (found.responses[0].position, found.references[0].position) == ((0.5, 1.5, -2.0), (0.25, 0.0, 0.125))


def test_we_read_header_units_lines_and_shapes_of_pyuff(tmp_path):
    path = theirs(
        tmp_path,
        pyuff.prepare_151(model_name="robot", description="first", db_app="a", program="b"),
        millimetres(),
        {"type": 82, "trace_num": 1, "nodes": np.array([1, 2, 0, 3])},
        {"type": 55, "analysis_type": 2, "data_ch": 2, "spec_data_type": 8, "load_case": 0, "mode_n": 2, "freq": 11.7,
         "node_nums": np.array([1, 2]), "r1": np.array([1.0, 0.5]), "r2": np.zeros(2), "r3": np.array([0.0, -1.0])},
    )  # fmt: skip
    found = read_universal(path)
    assert (found.title, found.program, found.length, found.force) == ("robot", "b", 1e3, 1e3)
    assert found.traces == ((1, 2, 0, 3),)
    assert_allclose(found.shapes[0].values, [[1.0, 0.0, 0.0], [0.5, 0.0, -1.0]])
    assert_allclose(abs(found.shapes[0].eigenvalue), 2.0 * np.pi * 11.7, rtol=1e-5)


def test_every_kind_goes_there_and_back(tmp_path):
    data = UniversalFile(
        (function(binary=True), function(kind=TIME, values=VALUES.real + 0j, reference=Side(), record=1)),
        (Shape((1, 2), np.ones((2, 6)) + 0j, 1j, 0.01),), {1: (0.1, 0.2, 0.3)}, ((1, 2),), 1.0, 1.0, "t", "d", "p",
    )  # fmt: skip
    once = read_universal(write_universal(tmp_path / "a.uff", data))
    twice = read_universal(write_universal(tmp_path / "b.uff", once))
    for found in (once, twice):
        assert (found.points, found.traces, found.title, found.program) == (data.points, data.traces, "t", "p")
        for ours, back in zip(data.functions, found.functions, strict=True):
            assert_allclose(back.values, ours.values, rtol=1e-11)
            assert (back.response, back.reference.direction) == (ours.response, ours.reference.direction)
        assert_allclose(found.shapes[0].values, data.shapes[0].values)


def test_records_go_there_and_back(tmp_path):
    t = np.arange(64) / 500.5
    x, y = np.sin(40.0 * t) * np.ones((3, 1, 1)), RNG.normal(size=(3, 2, 64))
    seen = (
        supple.Channel("tip", "x", position=(0.0, 0.1, 0.2)),
        supple.Channel("a long name of a point", (0.6, 0.8, 0.0)),
    )
    hammer = supple.Channel("tip", "-z", "force", (0.0, 0.1, 0.2))
    test = supple.TimeRecords(500.5, (hammer,), seen, x, y, 0.004, np.array([5.0, 6.0, 7.0]), "first")
    for ending in ("uff", "npz", "mat"):
        found = supple.load_records(test.save(tmp_path / f"records.{ending}"))
        assert (found.references, found.responses, found.at) == (test.references, test.responses, "first")
        assert_allclose(found.y, y, rtol=1e-11)
        assert_allclose([found.sampling_hz, found.before], [500.5, 0.004], rtol=1e-12)
        assert_array_equal(found.full_scale, test.full_scale)


# ------------------------------------------------------------------------------------------------ units


@pytest.mark.parametrize(
    ("label", "factor"),
    [("m/s^2", 1.0), ("mm/s^2", 1e-3), ("g", 9.80665), ("(mm/s2)", 1e-3), ("in/s**2", 0.0254), ("mm s-2", 1e-3)],
)
def test_numbers_become_si_by_the_unit_of_their_channel(label, factor, tmp_path):
    found = supple.load_responses(theirs(tmp_path, set58(ordinate_axis_units_lab=label, orddenom_axis_units_lab="kN")))
    assert_allclose(found["7.z", "9.-z"], VALUES * factor / 1e3, rtol=1e-10)
    assert (found.responses[0].recorded, found.responses[0].unit) == (label, "m/s²")


def test_without_labels_the_files_own_system_counts(tmp_path):
    bare = {"ordinate_axis_units_lab": "NONE", "orddenom_axis_units_lab": "NONE"}
    found = supple.load_responses(theirs(tmp_path, millimetres(), set58(**bare)))
    assert_allclose(found["7.z", "9.-z"], VALUES, rtol=1e-10)  # mm/s² to mN
    assert not found.notes
    assert "assumed to be SI" in supple.load_responses(theirs(tmp_path, set58(**bare))).notes[0]


def test_a_unit_may_be_corrected(tmp_path):
    path = theirs(tmp_path, set58())
    found = supple.load_responses(path, units={"7.z": "mm/s^2"})
    assert_allclose(found.H, supple.load_responses(path).H * 1e-3)
    assert_allclose(
        supple.load_responses(path, units={"*": "g", "reference *": "lbf"}).H[0, 0, 0],
        VALUES[0] * 9.80665 / 4.4482216152605,
    )
    with pytest.raises(supple.InputError, match="unknown channel"):
        supple.load_responses(path, units={"8.z": "mm/s^2"})
    with pytest.raises(supple.InputError, match=r'"7.z": .*"mm" is not a unit of acceleration; .*units='):
        supple.load_responses(path, units={"7.z": "mm"})


# ------------------------------------------------------------------------------------------------ faults


def written(tmp_path, content):
    path = tmp_path / "x.uff"
    path.write_bytes(content)
    return path


def test_pyuff_says_nothing_where_we_do(tmp_path):
    """That it still does: if it begins to speak, the checks here may go."""
    assert pyuff.UFF(str(written(tmp_path, b""))).read_sets() == []
    assert pyuff.UFF(str(written(tmp_path, b"garbage\n" * 20))).read_sets() == []
    whole = theirs(tmp_path, set58(), set58(rsp_node=8)).read_bytes()
    assert isinstance(pyuff.UFF(str(written(tmp_path, whole[:-900]))).read_sets(), dict)  # one of two sets


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"garbage\n" * 20, "not a universal file"),
        (bytes(range(256)) * 40, "not a universal"),
    ],
)
def test_empty_and_garbage_files_are_named(content, what, tmp_path):
    with pytest.raises(supple.InputError, match=what):
        supple.load_responses(written(tmp_path, content))


def test_a_file_that_was_cut_off_is_named_and_may_be_read_in_part(tmp_path):
    path = written(tmp_path, theirs(tmp_path, set58(), set58(rsp_node=8)).read_bytes()[:-900])
    with pytest.raises(supple.InputError, match=r"incomplete: .*2nd set \(type 58\); .*--partial"):
        supple.load_responses(path)
    found = supple.load_responses(path, partial=True)
    assert len(found.responses) == 1
    assert "2nd set (type 58); that set was ignored" in found.notes[0]


def test_numbers_missing_in_a_set_are_named(tmp_path):
    lines = theirs(tmp_path, set58()).read_bytes().splitlines(keepends=True)
    with pytest.raises(supple.InputError, match=r"set 1 of type 58.* 40 values, but has 38"):
        supple.load_responses(written(tmp_path, b"".join(lines[:15] + lines[16:])))


@pytest.mark.parametrize(
    ("sets", "what"),
    [
        ([set58(), set58()], "7.z to 9.-z occurs twice, in sets 1 and 2; .*postures"),
        ([set58(), set58(rsp_node=8, ref_node=4)], "2 pairs of .* missing: 7.z to 4.-z, 8.z to 9.-z"),
        ([set58(), set58(rsp_node=8, x=LINES * 2.0)], "set 2 has 40 lines up to .* set 1 has 40"),
        ([set58(), set58(rsp_node=8, x=LINES[:9], data=VALUES[:9])], "set 2 has 9 lines"),
        ([set58(ordinate_axis_units_lab="furlong")], '"7.z" .set 1.: unknown unit "furlong"'),
        ([set58(ordinate_axis_units_lab="mm")], r'"7.z" .set 1.: .*acceleration, but with the unit "mm"'),
        ([set58(func_type=1, data=VALUES.real)], "no frequency response"),
    ],
)
def test_what_does_not_fit_together_is_named_with_its_set(sets, what, tmp_path):
    with pytest.raises(supple.InputError, match=what):
        supple.load_responses(theirs(tmp_path, *[dict(item) for item in sets]))


def test_references_that_are_complete_may_be_asked_for(tmp_path):
    path = theirs(tmp_path, set58(), set58(rsp_node=8), set58(ref_node=4))
    assert len(supple.load_responses(path, references=["9.-z"]).responses) == 2
    with pytest.raises(supple.InputError, match="none of the references"):
        supple.load_responses(path, references=["5.-z"])


def test_nan_is_never_written_as_zero(tmp_path):
    wrong = function(values=np.where(np.arange(40) == 3, np.nan, VALUES))
    with pytest.raises(supple.InputError, match="not finite"):
        write_universal(tmp_path / "x.uff", UniversalFile((wrong,)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("seed", range(12))
def test_damaged_files_give_an_answer_or_an_input_error(seed, tmp_path):
    """Bytes changed at random, or cut anywhere: never a traceback of another kind."""
    rng = np.random.default_rng(seed)
    content = bytearray(theirs(tmp_path, set58(binary=seed % 2), set58(rsp_node=8)).read_bytes())
    for at in rng.integers(0, len(content), 12):
        content[at] = rng.integers(32, 127)
    path = written(tmp_path, bytes(content[: rng.integers(1, len(content) + 1)]))
    try:
        found = supple.load_responses(path)
    except supple.InputError:
        return
    assert found.H.shape[1:] in ((1, 1), (2, 1))


# ------------------------------------------------------------------------------------------------ tables and arrays


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("time,real a/b,imag a/b\n1,2,3\n2,3,4\n", r'must be frequency_hz \(got "time"\)'),
        ("frequency_hz,real a.z/b.z\n1,2\n2,3\n", "a.z/b.z has only real"),
        ("frequency_hz,speed a.z/b.z\n1,2\n2,3\n", 'unknown column "speed a.z/b.z"'),
        ("frequency_hz,real a.z/b.z,imag a.z/b.z\n1,2,x\n", ":2:.*not a number"),
        ("frequency_hz,real a.z/b.z,imag a.z/b.z\n1,2,3\n", "1 lines of numbers"),
        ("frequency_hz,real a.z/b.z,imag a.z/b.z\n2,2,3\n1,2,3\n", "must increase"),
        ("frequency_hz,real a.z/b.z [furlong/N],imag a.z/b.z\n1,2,3\n2,2,3\n", 'unknown unit "furlong"'),
    ],
)
def test_a_table_that_is_wrong_is_told_where(text, what, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(supple.InputError, match=what):
        supple.load_responses(path)


def test_a_table_may_have_magnitudes_and_phases(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("frequency_hz,magnitude a.z/b.z [mm/s^2/N],phase a.z/b.z (deg)\n1,2000,90\n2,1000,-180\n")
    assert_allclose(supple.load_responses(path).H[:, 0, 0], [2.0j, -1.0], atol=1e-12)


def test_an_archive_cannot_bring_objects(tmp_path):
    np.savez(tmp_path / "x.npz", H=np.array([{"a": 1}], dtype=object), frequencies_hz=np.ones(1))
    with pytest.raises(supple.InputError, match=r'"H" .*instead of numbers or texts'):
        supple.load_responses(tmp_path / "x.npz")
    np.savez(tmp_path / "y.npz", H=np.ones((1, 1, 1)))
    with pytest.raises(supple.InputError, match='no array "frequencies_hz"'):
        supple.load_responses(tmp_path / "y.npz")
    (tmp_path / "z.mat").write_bytes(b"garbage" * 40)
    with pytest.raises(supple.InputError, match="not a Matlab file"):
        supple.load_responses(tmp_path / "z.mat")
