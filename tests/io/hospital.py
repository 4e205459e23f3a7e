"""An export of a hospital, made up, with all that makes such tables hard to read.

It is a CSV file as a German spreadsheet program writes it: semicolons, decimal commas, a mark of UTF-8, and missing
values by many names. ``table`` gives the rows as text, ``write_csv`` and ``write_xlsx`` the files.
"""

from datetime import datetime, timedelta

import numpy as np

MISSING = ["n/a", "-", "N/A", "#N/A", "#NV", "k.A.", "--", ".", "unknown", ""]
CLASSES = ["discharged", "readmitted"]


def table(n_rows=600, missing=0.05, seed=0):
    """The columns of the export as lists of text, by their names; the class is in ``outcome``.

    Parameters
    ----------
    n_rows : int
    missing : float
        Share of the cells that hold a word for a missing value, in the columns that have some.
    seed : int
    """
    rng = np.random.default_rng(seed)
    age, crp = rng.integers(18, 95, n_rows), rng.lognormal(2.0, 1.2, n_rows)
    haemoglobin, weight = rng.normal(13.0, 1.8, n_rows), rng.normal(78.0, 14.0, n_rows)
    creatinine, dose = rng.lognormal(0.0, 0.4, n_rows), rng.choice([2.5, 5.0, 7.5, 12.5, 1250.0], n_rows)
    bill, saturation = rng.lognormal(8.0, 0.8, n_rows), np.clip(rng.normal(0.95, 0.03, n_rows), 0.6, 1.0)
    days, stay = rng.integers(0, 1400, n_rows), rng.integers(1, 30, n_rows)
    ward = rng.choice(["Innere", "Chirurgie", "Geriatrie", "Unfälle"], n_rows, p=[0.4, 0.3, 0.2, 0.1])
    risk = 0.05 * (age - 60) + 0.06 * np.minimum(crp, 60.0) - 0.5 * (haemoglobin - 13.0) + 0.5 * (ward == "Geriatrie")
    ill = rng.random(n_rows) < 1.0 / (1.0 + np.exp(-1.6 * (risk - 0.9)))

    def gaps(texts):
        """Some cells hold a word for a missing value in their place."""
        gone, words = rng.random(n_rows) < missing, rng.choice(MISSING, n_rows)
        return [word if is_gone else text for text, word, is_gone in zip(texts, words, gone, strict=True)]

    admitted = [datetime(2021, 1, 1) + timedelta(days=int(day)) for day in days]
    return {
        "Fall": [f"F-{number:06d}" for number in rng.permutation(900_000)[:n_rows]],
        "Alter": gaps([str(value) for value in age]),
        "CRP": gaps(["<0,6" if value < 0.6 else _comma(value, 1) for value in crp]),
        "Hb": gaps([f"{_comma(value, 1)} g/dl" for value in haemoglobin]),
        "Gewicht": gaps([f"{_comma(value, 1)} kg" if value > 70 else _comma(value, 1) for value in weight]),
        "Kreatinin": gaps([">3" if value > 3 else _comma(value, 2) for value in creatinine]),
        "Dosis": gaps([_thousands(value, ".") for value in dose]),
        "Kosten": gaps([f"{_thousands(value, ' ')}" for value in bill]),
        "SpO2": gaps([f"{_comma(100 * value, 1)} %" for value in saturation]),
        "Aufnahme": gaps([f"{day:%d.%m.%Y %H:%M}" for day in admitted]),
        "Entlassung": gaps([f"{day + timedelta(days=int(k)):%d.%m.%Y}" for day, k in zip(admitted, stay, strict=True)]),
        "Station": gaps(ward.tolist()),
        "Notfall": rng.choice(["ja", "nein"], n_rows).tolist(),
        "Diagnose": rng.choice(["I21.4", "J18.9", "N39.0", "S72.0", "E11"], n_rows).tolist(),
        "Pflegegrad": gaps(rng.choice(["1", "2", "3", "3+", "keiner"], n_rows).tolist()),
        "Arztbrief": [_letter(rng, number) for number in range(n_rows)],
        "Bemerkung": [""] * n_rows,
        "outcome": [CLASSES[int(each)] for each in ill],
    }


def write_csv(path, columns):
    """As a spreadsheet program saves it in German: semicolons, and UTF-8 with a mark."""
    lines = [";".join(columns), *(";".join(row) for row in zip(*columns.values(), strict=True))]
    path.write_text("\r\n".join(lines) + "\r\n", encoding="utf-8-sig")
    return path


def write_xlsx(path, columns, sheet="Export"):
    """As a workbook: dates are dates, per cent are formatted fractions, some numbers are text."""
    import openpyxl

    book = openpyxl.Workbook()
    page = book.active
    page.title = sheet
    page.append(list(columns))
    for row in zip(*columns.values(), strict=True):
        page.append([_cell(name, text) for name, text in zip(columns, row, strict=True)])
    share = list(columns).index("SpO2") + 1
    for (cell,) in page.iter_rows(min_row=2, min_col=share, max_col=share):
        cell.number_format = "0.0%"
    book.save(path)
    return path


def _comma(value, digits):
    return f"{value:.{digits}f}".replace(".", ",")


def _thousands(value, mark):
    return f"{value:,.2f}".replace(",", "_").replace(".", ",").replace("_", mark)


def _letter(rng, number):
    words = rng.choice(["Patient", "klagt", "über", "Schmerzen", "seit", "gestern", "ohne", "Fieber"], 12)
    return f"{number}: {' '.join(words)}"


def _cell(name, text):
    if text in MISSING:
        return text or None
    if name in ("Aufnahme", "Entlassung"):
        return datetime.strptime(text, "%d.%m.%Y %H:%M" if ":" in text else "%d.%m.%Y")
    plain = text.removesuffix(" %").replace(" ", "").replace(".", "") if name != "Diagnose" else text
    try:
        value = float(plain.replace(",", "."))
    except ValueError:
        return text
    return value / 100 if text.endswith("%") else int(value) if value.is_integer() else value
