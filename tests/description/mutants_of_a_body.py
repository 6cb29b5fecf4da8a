"""Run in a process of its own: files of a superelement with something changed, each understood or refused.

usage: python mutants_of_a_body.py FOLDER SEED COUNT; prints {"understood": n, "refused": n, "said": [...]}
"""

from __future__ import annotations

import json
import random
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

import supple
from supple.description.elastic.superelement_files import rigid_body_modes

NODES = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 0.3, 0.1]])
CHARACTERS = b"0123456789eE+-._ %,\n\r\tabx\0\xff"
NUMBERS = [b"0", b"-1", b"1e308", b"1e400", b"99999999999999999999", b"nan", b"inf", b"1_5", b"1e", b"-0.0", b"1e-320"]
WORDS = [b"array", b"coordinate", b"complex", b"pattern", b"integer", b"general", b"skew-symmetric", b"symmetric", b""]


def write_body(folder: Path) -> list[Path]:
    """A body of three nodes, in the three files and in one; the files that are to be changed."""
    dice = np.random.default_rng(4)
    R = rigid_body_modes(NODES, np.full(3, 6), np.zeros(3))
    P = np.eye(18) - R @ np.linalg.pinv(R)
    A = dice.normal(size=(18, 18))
    K = P @ A @ A.T @ P * 1e5
    M = np.diag(np.tile([2.0] * 3 + [0.02] * 3, 3))
    for name, matrix in (("K", K), ("M", M)):
        scipy.io.mmwrite(folder / f"{name}.mtx", scipy.sparse.coo_matrix(matrix), precision=12, symmetry="symmetric")
    table = "".join(f"{i},{x},{y},{z}\n" for i, (x, y, z) in enumerate(NODES.tolist(), 1))
    (folder / "nodes.csv").write_text("number,x,y,z\n" + table)
    entries = scipy.sparse.coo_array(K)
    arrays = {"K_row": entries.row, "K_col": entries.col, "K_data": entries.data, "M": M, "nodes": NODES}
    np.savez(folder / "whole.npz", **arrays)
    np.savez(folder / "stored.npz", **arrays)
    np.savez_compressed(folder / "packed.npz", **arrays)
    return [folder / name for name in ("K.mtx", "M.mtx", "nodes.csv", "stored.npz", "packed.npz")]


def changed(content: bytes, dice: random.Random, *, text: bool) -> bytes:
    for _ in range(dice.choice([1, 1, 1, 2, 4])):
        at = dice.randrange(len(content) or 1)
        if dice.random() < 0.3:  # where most is said
            at = dice.randrange(min(len(content), 90) or 1)
        end = at + dice.choice([1, 1, 2, 8, 40])
        match dice.randrange(7 if text else 4):
            case 0:
                content = content[:at]
            case 1:
                content = content[:at] + content[end:]
            case 2:
                content = content[:end] + content[at:]
            case 3:
                new = bytes([dice.choice(CHARACTERS) if text else dice.randrange(256)])
                content = content[:at] + new + content[at + 1 :]
            case 4:
                words = content.split(b" ")
                words[dice.randrange(len(words))] = dice.choice(NUMBERS)
                content = b" ".join(words)
            case 5:
                words = content.split(b" ")
                words[dice.randrange(min(len(words), 6))] = dice.choice(WORDS)
                content = b" ".join(words)
            case _:
                lines = content.split(b"\n")
                a, b = dice.randrange(len(lines)), dice.randrange(len(lines))
                lines[a], lines[b] = lines[b], dice.choice([lines[a], lines[b]])
                content = b"\n".join(lines)
    return content


def with_odd_arrays(arrays: dict[str, np.ndarray], file: Path, dice: random.Random) -> None:
    """The archive with an array that says something else: values, places, types, shapes; or twice, or not at all."""
    arrays = {name: array.copy() for name, array in arrays.items()}
    for _ in range(dice.choice([1, 1, 2])):
        name = dice.choice(list(arrays))
        array = arrays[name]
        match dice.randrange(8):
            case 0 if array.size:
                value = dice.choice([0, 1, -1, 17, 18, 10**9, 2**62, *([1e308, np.nan, np.inf, 1e-320] * 2)])
                with np.errstate(all="ignore"):
                    array.flat[dice.randrange(array.size)] = np.array(value).astype(array.dtype)
            case 1:
                with np.errstate(all="ignore"):
                    arrays[name] = array.astype(dice.choice(["f2", "i1", "c16", "S3", "?", ">f8", "u8", "U2"]))
            case 2:
                arrays[name] = dice.choice([array[:-1], array[None], array.ravel(), array[:0], np.array(3.0)])
            case 3:
                del arrays[name]
            case 4:
                with np.errstate(all="ignore"):
                    arrays[name] = (array * dice.choice([-1.0, 0.0, 1e300, 1e-300, 1e-12])).astype(array.dtype)
            case 5 if "M" in arrays and arrays["M"].shape == (18, 18):  # indefinite, singular, without mass
                i, j = dice.randrange(18), dice.randrange(18)
                arrays["M"][i, j] = arrays["M"][j, i] = dice.choice([3.0, -2.0, 0.0, 2.0, 0.02])
            case 6:
                arrays["K_shape"] = np.array(dice.choice([[18, 18], [18], [-1, 18], [10**12, 10**12], [18, 18, 18]]))
            case _:
                arrays["nodes"] = arrays.get("nodes", array)[::-1]
        if not arrays:
            break
    np.savez(file, **arrays)
    if dice.random() < 0.1:
        with zipfile.ZipFile(file, "a") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # zipfile says that the name is taken
            archive.writestr("M.npy", b"x" * dice.choice([0, 9, 10**6]))


def mechanism_text(element: str) -> str:
    return (
        "supple: 1\npoints: {A: [0, 0, 0], B: [0.5, 0, 0]}\nbodies:\n"
        f"  arm: {{superelement: {{{element}, interfaces: {{A: {{node: {0 if 'file' in element else 1}}}}}}}}}\n"
        "joints: {A: {revolute: [ground, arm], axis: y}}\nactuators: {motor: {joint: A}}\n"
    )


def answer(text: str, folder: Path) -> str | None:
    """None where it is understood; the message where it is refused."""
    try:
        mechanism = supple.loads(text, folder=folder)
        supple.modes(mechanism, count=3)
    except supple.SuppleError as error:
        return str(error)
    return None


def main(folder: Path, seed: int, count: int) -> None:
    dice = random.Random(seed)
    files = write_body(folder)
    whole = {file: file.read_bytes() for file in files}
    separate = mechanism_text("mass: M.mtx, stiffness: K.mtx, nodes: nodes.csv")
    said: list[str | None] = [answer(separate, folder)]
    assert said == [None]
    for i in range(count):
        file = files[i % len(files)]
        if file.suffix == ".npz" and dice.random() < 0.7:
            with np.load(folder / "whole.npz") as arrays:
                with_odd_arrays(dict(arrays), file, dice)
        else:
            file.write_bytes(changed(whole[file], dice, text=file.suffix != ".npz"))
        print(f"mutant {i} of {file.name}, seed {seed}", file=sys.stderr)  # the last one, should it end in a crash
        said.append(answer(mechanism_text(f"file: {file.name}") if file.suffix == ".npz" else separate, folder))
        file.write_bytes(whole[file])
    refused = [text for text in said if text is not None]
    print(json.dumps({"understood": len(said) - len(refused), "refused": len(refused), "said": refused}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
