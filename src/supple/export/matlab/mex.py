"""C around the exported model: a mex function for Matlab and Octave, and an S-function for Simulink."""

from __future__ import annotations

from supple.export.template import filled, parts

PARTS = parts("supple.export.matlab", "mex.c")


def mex_source(prefix: str, *, inputs: bool = True, outputs: bool = True, family: bool = False) -> str:
    """`PREFIX_mex.c`; of a model without actuators or sensors the functions leave out what there is none of."""
    words = {"prefix": prefix, "upper": prefix.upper(), "u": "u, " if inputs else ""}
    words["declared"] = f", *u = column(count, given, 2, {prefix.upper()}_INPUTS)" if inputs else ""
    words |= {"own": "0", "first": "", "parameters": "", "begin": "", "set": "", "set_help": ""}
    if family:
        words |= {"own": "&parameters", "first": "&parameters, ", "set": filled(PARTS["set"], words)}
        words["parameters"] = f"\nstatic {prefix}_parameters parameters;\nstatic int begun;\n"
        words["begin"] = f"    if (!begun) {prefix}_defaults(&parameters), begun = 1;\n"
        words["set_help"] = (
            f" *     {prefix}_mex('set', values)                 parameters, for all calls that follow\n"
        )
    made = filled(PARTS["outputs"], words) if outputs else ""
    text = filled(PARTS["mex"], words | {"outputs": made})
    return text if inputs else text.replace(", x, u)", ", x)")


def sfunction_source(
    prefix: str,
    states: int,
    *,
    inputs: bool = True,
    outputs: bool = True,
    feeds: bool = True,
    family: bool = False,
) -> str:
    """`PREFIX_sfun.c`; without sensors its output is the state. Of a family its parameters are its second one.

    feeds : whether outputs depend on the inputs at once, so that Simulink looks for algebraic loops
    """
    words = {"prefix": prefix, "upper": prefix.upper(), "feeds": "1" if feeds and outputs else "0"}
    words["signal"] = "ssGetInputPortRealSignal(S, 0), " if inputs else ""
    words["seen_signal"] = words["signal"] if feeds else "0, " if inputs else ""  # not to be touched there otherwise
    words |= {
        "own": "0", "takes": f"One parameter: the {states} numbers of the start, [eta; rates].", "many": "1",
        "work": "", "start": "", "end": "    (void)S;\n", "allocation": "",
    }  # fmt: skip
    if family:
        words |= {
            "own": f"(const {prefix}_parameters *)ssGetPWorkValue(S, 0)", "many": "2",
            "takes": f"Two parameters: the {states} numbers of the start, [eta; rates]; then the mechanism's.\n *",
            "work": "    ssSetNumPWork(S, 1);\n", "start": filled(PARTS["start"], words),
            "end": "    free(ssGetPWorkValue(S, 0));\n", "allocation": "#include <stdlib.h>\n\n",
        }  # fmt: skip
    return filled(PARTS["sfunction"], words | {
        "states": str(states), "ports": str(int(inputs)), "port": filled(PARTS["port"], words) if inputs else "",
        "measured": filled(PARTS["measured" if outputs else "copied"], words),
        "seen": "OUTPUTS" if outputs else "STATES", "input": "the forces of the actuators" if inputs else "none",
        "output": "all sensors" if outputs else "the state [eta; rates]",
    })  # fmt: skip
