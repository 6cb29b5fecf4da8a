"""Equations of plain characters as MathML: what is written is what is set."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from lxml import etree

ROOT = Path(__file__).parents[2]
THEORY = sorted((ROOT / "docs/theory").glob("*.md"))
SAME = str.maketrans({"½": "12", "¼": "14", "⅓": "13", "∑": "Σ", "∏": "Π", "-": "−"})


def lines(page: Path) -> list[str]:
    """Lines of a page that are equations with a number."""
    return re.findall(r"^ {4,}(\S.*\s\(\d+[a-z]?\))$", page.read_text("utf-8"), re.MULTILINE)


def letters(text: str) -> Counter[str]:
    """Letters and digits, however they are set: small ones above and below, accents apart from what they are on."""
    return Counter(c for c in unicodedata.normalize("NFKD", text.translate(SAME)) if c.isalnum())


@pytest.mark.parametrize("page", THEORY, ids=lambda page: page.stem)
def test_no_letter_is_lost_and_none_is_added(page):
    from plain_maths import equation_line

    for line in lines(page):
        parts, citation, number = equation_line(line)
        set_ = "".join("".join(etree.fromstring(part.replace("&#160;", " ")).itertext()) for part in parts)
        assert letters(set_) + letters(citation) + letters(number) == letters(line), line


@pytest.mark.parametrize(
    ("plain", "wanted"),
    [
        ("M_ij", "<msub><mi>M</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub>"),
        ("x²", "<msup><mi>x</mi><mrow><mn>2</mn></mrow></msup>"),
        ("∂_kΨ", '<msub><mi mathvariant="normal">∂</mi><mrow><mi>k</mi></mrow></msub><mi mathvariant="normal">Ψ</mi>'),
        ("u_end", '<msub><mi>u</mi><mrow><mi mathvariant="normal">end</mi></mrow></msub>'),
        ("√(a)", "<msqrt><mi>a</mi></msqrt>"),
        ("ẋ", '<mover accent="true"><mi>x</mi><mo stretchy="false">˙</mo></mover>'),
    ],
)
def test_symbols(plain, wanted):
    from plain_maths import row

    assert row(plain) == wanted


def test_matrices():
    from plain_maths import row, stacked

    assert row("[a, b; c, d]").count("<mtr>") == 2
    assert row("[a, b; c, d]").count("<mtd>") == 4
    assert row("[[a, b], [c, d]]") == row("[a, b; c, d]")
    assert "<mtr>" not in row("Γ[θ̇, θ̇]")
    drawn = stacked(["[M   -Φ_qᵀ] [V̇]   [     Q      ]", "[Φ_q   0  ] [λ] = [ℓ̈(t) - Φ̇_q V]"])
    assert drawn is not None
    assert drawn.count("<mtable>") == 3
    assert drawn.count("<mtd>") == 4 + 2 + 2
