"""``python -m uqf`` is the command ``uqf``."""

from uqf.cli import main

main()
