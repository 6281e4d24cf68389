"""``gymnasium.make("uqf/GridWorld-near-v0")`` and the like, as soon as both packages are imported."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # `import uqf` loads this file and nothing else that takes time
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

#: The name that Gymnasium knows, after "uqf/", and the name of `uqf.make`.
IDS = {
    "Tiger-v0": "tiger",
    "GridWorld-near-v0": "gridworld-near",
    "GridWorld-mid-v0": "gridworld-mid",
    "GridWorld-far-v0": "gridworld-far",
    "GridWorld-hamilton-v0": "gridworld-hamilton",
    "PocMan-v0": "pocman",
    "SPocMan-v0": "spocman",
}


def register() -> None:
    """Registers the worlds."""
    from gymnasium.envs.registration import register as register_one

    for identifier, name in IDS.items():
        entry_point = "uqf.worlds.gymnasium.wrapped:named_env"
        register_one(id=f"uqf/{identifier}", entry_point=entry_point, kwargs={"name": name})


def register_with_gymnasium() -> None:
    """Registers the worlds now, or when Gymnasium is imported: nobody else should wait for it."""
    if sys.modules.get("gymnasium") is not None:
        register()
    else:
        sys.meta_path.insert(0, _Waiting())


class _Waiting:
    """Sees that Gymnasium is imported, lets it be, and registers the worlds after it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """That of Gymnasium, with the worlds registered when it is loaded; nothing for any other module."""
        if fullname != "gymnasium":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_register(module: ModuleType) -> None:
            load(module)
            register()

        spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec
