"""``python -m uqf`` is the command ``uqf``."""

from uqf.cli.entry import main

main()
