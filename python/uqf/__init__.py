"""Policies for partially observed systems from data, by spectral learning of unnormalised Q functions."""

from importlib import import_module

#: Public names by their module. Each is imported when it is first used: scikit-learn and SciPy take seconds to load,
#: and an agent that only acts needs neither. `__init__.pyi` says the same to type checkers.
_MODULES = {
    "_core": "__version__",
    "agent": "Agent",
    "coding.codebook": "Codebook",
    "curves": "CsvLines",
    "episodes.concatenate": "concatenate",
    "episodes.trajectories": "Trajectories",
    "errors": "FileFormatError NumericalError SpectralRadiusError UQFError WorkerError",
    "evaluate": "estimate_return rollout Score",
    "iteration": "policy_iteration PolicyIteration",
    "learn.belief_q": "BeliefQ",
    "learn.choose.fit": "fit",
    "learn.choose.markov_test": "markov_test MarkovTest",
    "learn.choose.selection": "select Selection",
    "learn.context_q": "ContextQ",
    "learn.lag_q": "LagQ",
    "learn.model_q": "ModelQ",
    "learn.not_fitted": "NotFittedError",
    "learn.spectral.hankel": "exact_hankel Hankel hankel spectral_wfa",
    "learn.spectral.statistics": "Statistics",
    "learn.spectral.statistics_file": "load_statistics save_statistics",
    "learn.spectral.wfa": "WFA",
    "learn.spectral_q": "SpectralQ",
    "learn.table_q": "TableQ",
    "learn.uqf": "UQF",
    "logs.columns": "LogColumns",
    "logs.log": "log_problems read_log",
    "logs.convert": "convert",
    "logs.problems": "LogProblem",
    "policies.batches": "batch",
    "policies.persistent": "Persistent",
    "policies.policy": "AutomatonPolicy BeliefPolicy ContextPolicy FilterPolicy ObservationPolicy Policy TablePolicy",
    "reading.cluster": "dask_shards",
    "reading.parquet_shards": "Shards",
    "reports.report": "report",
    "storage.onnx": "export_onnx",
    "storage.policies": "inspect_policy load save",
    "storage.policy_header": "PolicyHeader",
    "strings.spectral": "SpectralStrings",
    "worlds.environments": "Environment TabularPOMDP",
    "worlds.gymnasium.minari": "from_minari",
    "worlds.gymnasium.world": "from_gymnasium GymnasiumWorld",
    "worlds.gymnasium.wrapped": "gymnasium_env gymnasium_vector_env",
    "worlds.named": "environments make",
    "worlds.pomdp_file": "dumps_pomdp load_pomdp loads_pomdp save_pomdp",
}

#: Folders that are public as they are.
_FOLDERS = ("baselines", "ope", "strings")

#: What to install for modules that need more than the package itself.
_EXTRAS = {"worlds.gymnasium": "gym", "storage.onnx": "onnx", "reading.cluster": "dask"}

_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}
_PLACES |= {folder: folder for folder in _FOLDERS}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'uqf' has no attribute {name!r}")
    place = _PLACES[name]
    try:
        module = import_module(f"uqf.{place}")
    except ModuleNotFoundError as error:
        extras = [extra for start, extra in _EXTRAS.items() if place.startswith(start)]
        if not extras:
            raise
        raise ImportError(f"uqf.{name} needs {error.name}: pip install 'uqf[{extras[0]}]'") from error
    value = globals()[name] = module if name in _FOLDERS else getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted(name for name in _PLACES if not name.startswith("_"))
