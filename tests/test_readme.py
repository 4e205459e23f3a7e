import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL))
def test_code_of_the_readme_runs(code):
    names = {}
    exec(code, names)
    assert names["clf"].certificate_.bound < 0.1
