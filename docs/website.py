"""What MkDocs cannot read from a file: navigation, links that leave this folder, and the pages of the reference."""

import ast
import re
import tomllib
from itertools import chain
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
INDEX = ROOT / "docs" / "README.md"

#: Titles of the folders and files that public names come from, in the order of the reference.
ROOMS = {
    "learn": "Learners",
    "data": "Data",
    "worlds": "Worlds",
    "policies": "Policies",
    "batches": "Many episodes at once",
    "storage": "Files of policies",
    "evaluate": "Rollouts and returns",
    "iteration": "Policy iteration",
    "ope": "Off-policy evaluation",
    "baselines": "Baselines",
    "adapters": "Other libraries",
    "errors": "Errors",
}


def public_names(package: str) -> dict[str, list[str]]:
    """Names that a package exports as ``X as X``, by the folder or file that they come from."""
    folder = ROOT / "python" / package.replace(".", "/")
    found: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse((folder / "__init__.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("uqf."):
            room = node.module.split(".")[1]
            found.setdefault(room, []).extend(f"{package}.{one.asname}" for one in node.names if one.asname)
    return found


def reference() -> dict[str, str]:
    """Markdown of the reference, by path: a page for every folder, whatever names it gets."""
    names = public_names("uqf")
    for package in ("ope", "baselines"):
        names[package] = sorted(chain.from_iterable(public_names(f"uqf.{package}").values()), key=str.lower)
    pages = {}
    for room in sorted(names, key=lambda name: [*ROOMS, name].index(name)):
        title = ROOMS.get(room, room.capitalize())
        entries = "\n".join(f"::: {name}\n" for name in names[room])
        pages[f"reference/{room}.md"] = f"# {title}\n\n{introduction(room)}{entries}"
    return pages


def introduction(room: str) -> str:
    """The docstring of a package whose names are used through it."""
    if room not in ("ope", "baselines"):
        return ""
    text = ast.get_docstring(ast.parse((ROOT / "python" / "uqf" / room / "__init__.py").read_text()))
    return f"{text}\n\n"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Navigation: sections and pages in the order of docs/README.md, then the reference."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    config.repo_url = urls["Source"]
    nav: list[dict[str, object]] = [{"Start": "README.md"}]
    for section in re.split(r"^## ", INDEX.read_text(), flags=re.MULTILINE)[1:]:
        title, _, table = section.partition("\n")
        pages = re.findall(r"^\| \[([^\]]+)\]\(([\w-]+\.md)\)", table, flags=re.MULTILINE)
        nav.append({title: [{name[:1].upper() + name[1:]: path} for name, path in pages]})
    nav.append({"Reference": list(reference())})
    config.nav = nav
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the reference, which stands in no file."""
    for path, text in reference().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to files outside docs/ lead to the repository."""
    return re.sub(r"\]\(\.\./([^)\s]+)\)", rf"]({config.repo_url}/blob/main/\1)", markdown)
