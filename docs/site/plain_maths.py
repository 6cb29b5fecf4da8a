"""Convert equations in plain characters to MathML.

The pages must read well where nothing renders them, so an equation is a line such as

    M(θ) θ̈ + Γ(θ)[θ̇, θ̇] = p(θ) + B(θ) u        [Brüls 2004, eq. 5]        (1)

Here such a line is read: accents, indices after `_`, exponents after `^` or as ², ᵀ, ⁻¹, roots, matrices whose rows end
in `;`, words among symbols. What is not understood stays as the character it is.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape

from brackets import CLOSE, OPEN, cells, closing, parts, split_outside
from formula_words import FUNCTIONS, has_words, is_word

ACCENTS = {"̇": "˙", "̈": "¨", "⃛": "⃛", "̂": "^", "̃": "~", "̄": "¯", "̅": "¯", "⃗": "→", "̌": "ˇ"}
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀᴴᵛⁿᵏ", "0123456789+−THvnk", strict=True))
SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₖᵢⱼₙ", "0123456789+−kijn", strict=True))
FRACTIONS = {"½": ("1", "2"), "¼": ("1", "4"), "⅓": ("1", "3"), "⅔": ("2", "3"), "¾": ("3", "4"), "⅙": ("1", "6")}
INDEX = re.compile(r"(?:[^\W_²³¹⁰⁴⁵⁶⁷⁸⁹⁻⁺ᵀᴴ₀₁₂₃½∂Σ∫]|[̀-ͯ⃛]|,(?=[^\W\d_]{1,3}(?![^\W_])))+")
SLOPE_INDEX = re.compile(r"[a-z]+|[α-ω][a-z]*")
INDICES = frozenset("ijklmnpqrtabos")
CITATION = re.compile(r"\s*(\[[A-Z][^\[\];]*(?:\d{4}|eqs?\.)[^\[\];]*\]|\[[a-z-]+, \d+\])\s*$")
NUMBER = re.compile(r"\s+\((\d+[a-z]?)\)\s*$")


def equation_line(line: str) -> tuple[list[str], str, str]:
    """Return the parts of a line as MathML, its citation and its number (both may be empty)."""
    number = NUMBER.search(line)
    if number:
        line = line[: number.start()]
    citation = CITATION.search(line)
    if citation:
        line = line[: citation.start()]
    return (
        [math(part) for part in parts(line.strip())],
        citation.group(1) if citation else "",
        number.group(1) if number else "",
    )


def math(text: str) -> str:
    """Return one formula as a `<math>` element."""
    return f'<math displaystyle="true">{row(text)}</math>'


def row(text: str) -> str:
    """Return the content of a formula as MathML."""
    return _Reader(unicodedata.normalize("NFD", text)).all()


class _Reader:
    """Parser that reads a formula from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.operand = False  # whether what stands before may be multiplied with what follows

    def all(self) -> str:
        found: list[str] = []
        while self.at < len(self.text):
            found.append(self.piece())
        return "".join(found)

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def piece(self) -> str:
        gap = re.compile(r"\s+").match(self.text, self.at)
        if gap:
            self.at = gap.end()
            if len(gap.group()) > 1:
                return '<mspace width="1em"></mspace>'
            return self._product_space()
        start = self.at
        words = self._words()
        if words:
            self.operand = True
            before = "&#160;" if self.text[:start].endswith(" ") else ""
            after = "&#160;" if self.peek() == " " else ""
            return f"<mtext>{before}{escape(words)}{after}</mtext>"
        return self._scripted()

    def _product_space(self) -> str:
        following = self.peek()
        if self.operand and (following.isalnum() or following in OPEN or following in "∂∇Σ∫√|‖½¼⅓"):
            return '<mspace width="0.22em"></mspace>'
        return ""

    def _words(self) -> str:
        """Read consecutive words: long enough not to be a product of symbols, and not a function name."""
        found: list[str] = []
        at = self.at
        while word := re.compile(r"[A-Za-z][A-Za-z'-]*[A-Za-z][,.]?").match(self.text, at):
            plain = word.group().rstrip(",.")
            after = self.text[at + len(plain) : at + len(plain) + 1]
            if (
                plain in FUNCTIONS
                or not is_word(plain)
                or (after in "_^(" and after)
                or unicodedata.combining(after or " ")
            ):
                break
            found.append(word.group())
            at = word.end()
            article = re.compile(r" a(?= [a-z]{3})").match(self.text, at)
            if article:
                found.append("a")
                at = article.end()
            blank = re.compile(r" (?=[A-Za-z])").match(self.text, at)
            if not blank:
                break
            at = blank.end()
        if found:
            self.at = at if self.text[at - 1] != " " else at - 1
        return " ".join(found)

    def _scripted(self) -> str:
        """Read a symbol or bracket with its attachments."""
        base, kind = self._base()
        below: list[str] = []
        above: list[str] = []
        while True:
            c = self.peek()
            if c and c in SUPERSCRIPTS:
                above.append(self._run(SUPERSCRIPTS))
            elif c and c in SUBSCRIPTS:
                below.append(self._run(SUBSCRIPTS))
            elif c == "'" and kind != "operator":
                primes = re.compile(r"'+").match(self.text, self.at)
                assert primes
                self.at = primes.end()
                above.append(f"<mo>{'′' * len(primes.group())}</mo>")
            elif c == "_" and not below:
                self.at += 1
                below.append(self._index("∂" in base))
            elif c == "^":
                self.at += 1
                above.append(self._exponent())
            else:
                break
        if kind in "ΣΠ" and below and self._sums(below[0]):
            base, kind = f'<mo movablelimits="false">{"∑" if kind == "Σ" else "∏"}</mo>', "operator"
            self.operand = False
            if not above:
                return f"<munder>{base}<mrow>{''.join(below)}</mrow></munder>"
        if kind == "limit" and below and not above:
            return f"<munder>{base}<mrow>{''.join(below)}</mrow></munder>"
        self.operand = kind in ("symbol", "group", "Σ", "Π", "limit") or bool(below or above)
        if below and above:
            return f"<msubsup>{base}<mrow>{''.join(below)}</mrow><mrow>{''.join(above)}</mrow></msubsup>"
        if below:
            return f"<msub>{base}<mrow>{''.join(below)}</mrow></msub>"
        if above:
            return f"<msup>{base}<mrow>{''.join(above)}</mrow></msup>"
        return base

    def _sums(self, index: str) -> bool:
        """Return whether a Σ with this index is a sum, not a matrix."""
        plain = re.sub(r"<[^>]*>", "", index)
        follows = re.compile(r"\s*[=,)\]]").match(self.text, self.at)
        if follows or not plain:
            return False
        return len(plain) > 1 or plain in INDICES or plain in "αλ"

    def _run(self, table: dict[str, str]) -> str:
        found = ""
        while self.peek() and self.peek() in table:
            found += table[self.peek()]
            self.at += 1
        return row(found) if not found.isalpha() else f'<mi mathvariant="normal">{found}</mi>'

    def _index(self, of_slope: bool = False) -> str:
        """Read the subscript; for ∂ only letters, since the quantity may follow at once: ∂_kΨ."""
        if self.peek() in "{(":
            return row(self._bracketed())
        run = (SLOPE_INDEX if of_slope else INDEX).match(self.text, self.at)
        if not run:
            return ""
        self.at = run.end()
        if self.peek() == "+" and re.compile(r"\+\d").match(self.text, self.at):
            run_text = run.group() + self.text[self.at : self.at + 2]
            self.at += 2
        else:
            run_text = run.group()
        if re.fullmatch(r"[a-z]{4,}", run_text) or (
            re.fullmatch(r"[a-z]{3}", run_text) and not set(run_text) <= INDICES | set("xyz")
        ):
            return f'<mi mathvariant="normal">{run_text}</mi>'
        return _Reader(run_text).all() if not re.fullmatch(r"[A-Za-z]{2,}", run_text) else _letters(run_text)

    def _exponent(self) -> str:
        if self.peek() and self.peek() in "({":
            bracket, inside = self.peek(), self._bracketed()
            return (
                row(inside)
                if bracket == "{" or not inside.isalpha()
                else f'<mo stretchy="false">(</mo>{row(inside)}<mo stretchy="false">)</mo>'
            )
        sign = ""
        if self.peek() in "-−":
            self.at += 1
            sign = "<mo>−</mo>"
        if self.peek() in FRACTIONS:
            top, bottom = FRACTIONS[self.peek()]
            self.at += 1
            return f"{sign}<mn>{top}</mn><mo>/</mo><mn>{bottom}</mn>"
        return sign + self._base()[0]

    def _bracketed(self) -> str:
        """Return the content of the bracket that opens here, and skip the bracket."""
        end = closing(self.text, self.at)
        inside = self.text[self.at + 1 : end]
        self.at = end + 1
        return inside

    def _base(self) -> tuple[str, str]:
        c = self.peek()
        number = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?").match(self.text, self.at)
        if number:
            self.at = number.end()
            return f"<mn>{number.group()}</mn>", "symbol"
        if c in OPEN and closing(self.text, self.at) < len(self.text):
            return self._group(c), "group"
        name = re.compile(r"[A-Za-z]+").match(self.text, self.at)
        if name and name.group() in FUNCTIONS:
            self.at = name.end()
            return f"<mi>{name.group()}</mi>", "limit" if name.group() in ("max", "min") else "symbol"
        long_name = re.compile(r"[A-Z]{4,}(?:_[A-Z]{4,})?").match(self.text, self.at)
        if long_name or (name and len(name.group()) > 1 and is_word(name.group())):
            taken = long_name.group() if long_name else name.group() if name else ""
            self.at += len(taken)
            return f'<mi mathvariant="normal">{taken.replace("_", " ")}</mi>', "symbol"
        self.at += 1
        if c in FRACTIONS:
            top, bottom = FRACTIONS[c]
            return f'<mstyle displaystyle="false"><mfrac><mn>{top}</mn><mn>{bottom}</mn></mfrac></mstyle>', "symbol"
        if c == "√":
            if self.peek() == "(":
                return f"<msqrt>{row(self._bracketed())}</msqrt>", "symbol"
            return f"<msqrt>{self._scripted()}</msqrt>", "symbol"
        if c.isalpha():
            return self._letter(c)
        return self._operator(c)

    def _letter(self, c: str) -> tuple[str, str]:
        upright = ' mathvariant="normal"' if "Α" <= c <= "Ω" else ""
        letter = f"<mi{upright}>{c}</mi>"
        while self.peek() and unicodedata.combining(self.peek()):
            mark = ACCENTS.get(self.peek())
            if mark is None:
                letter = letter.replace("</mi>", f"{self.peek()}</mi>")
            else:
                letter = f'<mover accent="true">{letter}<mo stretchy="false">{mark}</mo></mover>'
            self.at += 1
        return letter, c if c in "ΣΠ" else "symbol"

    def _operator(self, c: str) -> tuple[str, str]:
        two = self.text[self.at - 1 : self.at + 1]
        if two == "×*":
            self.at += 1
            return "<msup><mo>×</mo><mo>*</mo></msup>", "operator"
        three = self.text[self.at - 1 : self.at + 2]
        if three == "...":
            self.at += 2
            return "<mo>…</mo>", "symbol"
        for written, sign in (("<=", "≤"), (">=", "≥"), ("->", "→"), ("+=", "+="), ("-=", "−=")):
            if two == written:
                self.at += 1
                return f"<mo>{escape(sign)}</mo>", "operator"
        if c in "-−":
            form = "" if self.operand else ' form="prefix"'
            return f"<mo{form}>−</mo>", "operator"
        if c == "/":
            return '<mo lspace="0.05em" rspace="0.05em" stretchy="false">/</mo>', "operator"
        if c in "∂∇":
            return f'<mi mathvariant="normal">{c}</mi>', "operator"
        if c == "∞" or c == "1":
            return f"<mn>{c}</mn>", "symbol"
        if c in "|‖":
            return f'<mo stretchy="false" lspace="0" rspace="0">{c}</mo>', "symbol"
        if c == "∫":
            return '<mo largeop="true">∫</mo>', "operator"
        if c == "*":
            return "<mo>*</mo>", "operator"
        if c == ",":
            return '<mo separator="true" lspace="0" rspace="0.3em">,</mo>', "operator"
        if c in "()[]{}":
            return f'<mo stretchy="false">{c}</mo>', "symbol" if c in CLOSE else "operator"
        return f"<mo>{escape(c)}</mo>", "operator"

    def _group(self, opening: str) -> str:
        inside = self._bracketed()
        rows = split_outside(inside, ";")
        nested = [part.strip() for part in split_outside(inside, ",")]
        if opening == "[" and len(nested) >= 1 and all(re.fullmatch(r"\[.*\]", part) for part in nested):
            rows = [part[1:-1] for part in nested]  # [[a, b], [c, d]], also of one row
            return matrix([cells(line, rows, "[") for line in rows], "[", "]")
        if len(rows) > 1 and opening in "[(" and not has_words(inside):
            return matrix([cells(line, rows, opening) for line in rows], opening, OPEN[opening])
        return f'<mrow><mo stretchy="false">{opening}</mo>{row(inside)}<mo stretchy="false">{OPEN[opening]}</mo></mrow>'


def matrix(rows: list[list[str]], left: str, right: str) -> str:
    """Return a matrix whose cells are plain text as MathML."""
    inside = "".join("<mtr>" + "".join(f"<mtd>{row(cell.strip())}</mtd>" for cell in line) + "</mtr>" for line in rows)
    return f"<mrow><mo>{left}</mo><mtable>{inside}</mtable><mo>{right}</mo></mrow>"


def stacked(lines: list[str]) -> str | None:
    """Read matrices drawn over several lines, [a b] above [c d]; return None for other lines."""
    brackets = [list(re.finditer(r"\[([^\[\]]*)\]", line)) for line in lines]
    if len({len(found) for found in brackets}) != 1 or not brackets[0] or len(lines) < 2:
        return None
    columns = list(zip(*brackets, strict=True))
    if any(max(b.start() for b in column) - min(b.start() for b in column) > 3 for column in columns):
        return None
    found, before = "", [0] * len(lines)
    for column in columns:
        between = " ".join(line[at : b.start()].strip() for line, at, b in zip(lines, before, column, strict=True))
        rows = [b.group(1) for b in column]
        table = [re.split(r"\s{2,}", text.strip()) for text in rows]
        if len({len(line) for line in table}) != 1:
            table = [re.split(r"\s{2,}|(?<=\S)\s(?=-?\S+$)|(?<=^\S)\s(?=\S)", text.strip()) for text in rows]
        if len({len(line) for line in table}) != 1:
            table = [[text.strip()] for text in rows]
        if all(len(line) == 1 for line in table):
            table = [cells(text, rows, "[") for text in rows]
        found += row(between.strip()) + matrix(table, "[", "]")
        before = [b.end() for b in column]
    after = " ".join(line[at:].strip() for line, at in zip(lines, before, strict=True)).strip()
    return f'<math displaystyle="true">{found}{row(after)}</math>'


def _letters(run: str) -> str:
    return "".join(f"<mi>{c}</mi>" for c in run)
