"""UMLS files of a few rows, written by hand in a test."""

RELATION = "{0}|A0000001|AUI|{2}|{1}|A0000001|AUI||R00000001||INV|INV|||{3}||"


def atom(cui, number, text, *, lat="ENG", preferred=True, suppress="N", vocabulary="INV", code="X01.1"):
    """A line of MRCONSO."""
    status = "P|L1|PF|S1|Y" if preferred else "S|L1|PF|S1|N"
    return f"{cui}|{lat}|{status}|A{number:07}||{code}||{vocabulary}|PT|{code}|{text}|0|{suppress}||"


def definition(cui, number, text, *, of, suppress="N"):
    """A line of MRDEF, of the atom with a number."""
    return f"{cui}|A{of:07}|AT{number}||INV|{text}|{suppress}||"


def relation(cui, other, kind="SIB", *, suppress="N"):
    """A line of MRREL."""
    return RELATION.format(cui, other, kind, suppress)


def write(folder, atoms, definitions=(), relations=(), *, end="\n"):
    """Write the three files."""
    folder.mkdir(exist_ok=True)
    for name, lines in (("MRCONSO", atoms), ("MRDEF", definitions), ("MRREL", relations)):
        (folder / f"{name}.RRF").write_text("".join(f"{line}{end}" for line in lines), encoding="utf-8", newline="")
    return folder
