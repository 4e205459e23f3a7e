"""``python -m certivote``."""

from certivote.cli import app

if __name__ == "__main__":
    app(prog_name="certivote")
