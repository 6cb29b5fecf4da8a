"""A reduced model of 512 boxes: a batch against C compiled here, one call in place against an empty compiled call.

Quadratics of three coordinates with 27 columns (the Orthoglide's M, Γ and force), at random points. The C loop descends
the same tree and sums the same terms, compiled with -O3 -march=native; a second one computes the box from θ directly,
which only equal boxes allow.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

from supple.approximation.fits.chebyshev_products import total_degree
from supple.approximation.piecewise.piecewise import Piecewise
from supple.approximation.piecewise.piecewise_kernel import evaluate_batch
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, cut_box
from supple.compilation import compile_kernel
from supple.reduced.layout import CoefficientLayout
from supple.reduced.model import ReducedModel

LARGEST_RATIO, LARGEST_EXTRA = 1.3, 1e-6  # of the tree in C; seconds above an empty call
POINTS, ROUNDS, COLUMNS = 20000, 15, 27
LOWER, UPPER = -0.26, 0.06
SOURCE = """
#include <stdint.h>
static inline void sum(const double*restrict x,const double*l,const double*restrict q,double*restrict y){
  double u=(x[0]-l[0])*l[3],v=(x[1]-l[1])*l[4],w=(x[2]-l[2])*l[5];
  double B[10]={1,u,v,w,2*u*u-1,u*v,u*w,2*v*v-1,v*w,2*w*w-1};
  for(int k=0;k<27;k++) y[k]=B[0]*q[k]+B[1]*q[27+k]+B[2]*q[54+k]+B[3]*q[81+k]+B[4]*q[108+k]
    +B[5]*q[135+k]+B[6]*q[162+k]+B[7]*q[189+k]+B[8]*q[216+k]+B[9]*q[243+k];
}
void tree(const double*restrict x,int64_t N,const int64_t*restrict node,const double*restrict cut,int64_t root,
          const double*restrict box,const double*restrict c,double*restrict y){
  for(int64_t p=0;p<N;p++){
    int64_t k=root; while(k>=0) k = x[3*p+node[3*k]]>=cut[k] ? node[3*k+2] : node[3*k+1];
    sum(x+3*p,box+6*(-2-k),c+270*(-2-k),y+27*p);
  }
}
void grid(const double*restrict x,int64_t N,const int64_t*restrict leaf,const double*restrict box,
          const double*restrict c,double*restrict y){
  for(int64_t p=0;p<N;p++){
    int64_t k=0; for(int i=0;i<3;i++){ int64_t j=(int64_t)((x[3*p+i]+0.26)*25); k=8*k+(j<0?0:j>7?7:j); }
    sum(x+3*p,box+6*leaf[k],c+270*leaf[k],y+27*p);
  }
}
"""


def function() -> Piecewise:
    root = cut_box(Box((LOWER,) * 3, (UPPER,) * 3), (3, 3, 3))
    rng = np.random.default_rng(0)
    for leaf in root.leaves():
        leaf.coefficients = rng.normal(size=(10, COLUMNS))
        leaf.coefficients[0, [0, 3, 5]] += 30.0  # a positive definite M
    return Forest([root], total_degree(3, 2)).piecewise()


def model(fitted: Piecewise) -> ReducedModel:
    layout = CoefficientLayout(
        coordinates=("x", "y", "z"),
        theta=3,
        inputs=(),
        outputs=(),
        columns={"M": (0, 6), "christoffel": (6, 24), "force": (24, 27)},
    )
    return ReducedModel("orthoglide", layout, fitted)


def in_c(fitted: Piecewise, x: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], object]]:
    compiler = shutil.which("cc")
    if compiler is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "loop.c", Path(folder) / "loop.so"
        source.write_text(SOURCE)
        options = ["-O3", "-march=native", "-shared", "-fPIC"]
        subprocess.run([compiler, *options, str(source), "-o", str(library)], check=True)
        loops = ctypes.CDLL(str(library))
    a = fitted.arrays
    cell = np.rint((a.leaves_f[:, 0] - LOWER) * 25 - 0.5).astype(int) @ [64, 8, 1]
    leaf = np.empty(512, dtype=np.int64)
    leaf[cell] = np.arange(512)

    def at(array: np.ndarray) -> ctypes.c_void_p:
        return array.ctypes.data_as(ctypes.c_void_p)

    count, root = ctypes.c_int64(len(x)), ctypes.c_int64(int(a.roots_i[0]))
    tree = (at(x), count, at(a.nodes_i), at(a.nodes_f), root, at(a.leaves_f), at(a.coefficients), at(y))
    grid = (at(x), count, at(leaf), at(a.leaves_f), at(a.coefficients), at(y))
    keep = (leaf, a)
    return {"C, tree": lambda: loops.tree(*tree), "C, equal boxes": lambda: loops.grid(*grid) if keep else None}


def fastest(work: dict[str, Callable[[], object]], calls: int = 1) -> dict[str, float]:
    """The least time of each, interleaved so that a busy spell of the machine falls on all of them alike."""
    best = dict.fromkeys(work, np.inf)
    for task in work.values():
        task()
    for _ in range(ROUNDS):
        for name, task in work.items():
            start = time.perf_counter()
            for _ in range(calls):
                task()
            best[name] = min(best[name], (time.perf_counter() - start) / calls)
    return best


@numba.njit
def empty(theta, row):
    return 0


def main() -> None:
    fitted = function()
    x = np.random.default_rng(1).uniform(LOWER, UPPER, (POINTS, 3))
    y, z, inside = np.empty((POINTS, COLUMNS)), np.empty((POINTS, COLUMNS)), np.empty(POINTS, dtype=np.int64)
    run = compile_kernel(evaluate_batch)
    peers = in_c(fitted, x, z)
    best = fastest({"supple": lambda: run(*fitted.kernel_arrays, x, y, inside), **peers})
    for name, seconds in best.items():
        note = ""
        if name != "supple":
            np.testing.assert_allclose(z, y, atol=1e-10)
            note = f"   supple takes {best['supple'] / seconds:.2f} of it"
            if name == "C, tree":
                note += (
                    f" (at most {LARGEST_RATIO}: {'met' if best['supple'] <= LARGEST_RATIO * seconds else 'MISSED'})"
                )
        print(f"batch of {POINTS}, 27 columns, {name:15} {seconds / POINTS * 1e9:7.1f} ns a point{note}")
    evaluate = model(fitted).kernel()
    theta, row = x[0], evaluate.new_row()
    one = fastest({"empty": lambda: empty(theta, row), "in place": lambda: evaluate.call(theta, row)}, calls=5000)
    extra = one["in place"] - one["empty"]
    verdict = "met" if extra <= LARGEST_EXTRA else "MISSED"
    print(f"one call in place {one['in place'] * 1e9:.0f} ns, an empty one {one['empty'] * 1e9:.0f} ns: {verdict}")


if __name__ == "__main__":
    main()
