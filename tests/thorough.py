"""How much the tests that try many cases try: some in every run, all of them with ``make attacks``."""

import os

ALL = bool(os.environ.get("CERTIVOTE_ALL_ATTACKS"))
