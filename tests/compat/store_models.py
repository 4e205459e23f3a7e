"""Write models of every kind under the libraries that are installed: ``store_models.py FOLDER``."""

import json
import sys
from pathlib import Path

import numpy as np
from stored_kinds import KINDS, mingled

N_ASKED = 500


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, (name, kind) in enumerate(KINDS.items()):
        columns, labels = kind.table()
        model = kind.fit(columns, labels)
        model.save(folder / f"{number}.certivote", slim=kind.slim)
        asked = mingled(columns, N_ASKED, np.random.default_rng(1))
        rows = kind.rows(asked)
        record = {
            "kind": name,
            "columns": columns,
            "labels": labels,
            "asked": asked,
            "masses": model.predict_proba(rows).tolist(),
            "answers": model.predict(rows).tolist(),
        }
        (folder / f"{number}.json").write_text(json.dumps(record), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
