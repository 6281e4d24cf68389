"""``python -m uqf`` is the command ``uqf``."""

from uqf.cli.commands import main

main()
