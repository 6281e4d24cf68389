"""What MkDocs cannot read from a file: navigation, links that leave this folder, and the pages of the reference."""

import ast
import re
import tomllib
from itertools import chain
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import uqf  # noqa: F401  compiled classes have docstrings only where they are loaded

ROOT = Path(__file__).parent.parent
INDEX = ROOT / "docs" / "README.md"

#: Titles of the folders and files that public names come from, in the order of the reference.
ROOMS = {
    "learn": "Learners",
    "data": "Data",
    "worlds": "Worlds",
    "policies": "Policies",
    "batches": "Many episodes at once",
    "agent": "Agents",
    "storage": "Files of policies",
    "evaluate": "Rollouts and returns",
    "iteration": "Policy iteration",
    "ope": "Off-policy evaluation",
    "strings": "Strings",
    "baselines": "Baselines",
    "adapters": "Other libraries",
    "errors": "Errors",
}


def public_names(package: str) -> dict[str, list[str]]:
    """Names that a package exports as ``X as X``, in order, by the folder or file that they come from.

    Those of a folder are written with their file: `uqf.ope.evaluate` is a file as well as a function in it.
    """
    folder = ROOT / "python" / package.replace(".", "/")
    found: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse((folder / "__init__.py").read_text())):
        if not isinstance(node, ast.ImportFrom) or not node.module or not node.module.startswith("uqf."):
            continue
        names = [one.asname for one in node.names if one.asname and not one.asname.startswith("_")]
        if names:
            place = package if package == "uqf" else node.module
            found.setdefault(node.module.split(".")[1], []).extend(f"{place}.{name}" for name in names)
    return found


def folders() -> list[str]:
    """Folders whose names are used through them, such as `uqf.ope`."""
    tree = ast.parse((ROOT / "python" / "uqf" / "__init__.py").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "uqf"]
    return [name.name for node in imports for name in node.names]


def reference() -> dict[str, str]:
    """Markdown of the reference, by path: a page for every folder, whatever names it gets."""
    names = public_names("uqf")
    for folder in folders():
        names[folder] = [*chain(*public_names(f"uqf.{folder}").values())]
    pages = {}
    for room in sorted(names, key=lambda name: [*ROOMS, name].index(name)):
        title = ROOMS.get(room, room.capitalize())
        listed = sorted(names[room], key=lambda name: name.split(".")[-1].lower())
        entries = "\n".join(f"::: {name}\n" for name in listed)
        pages[f"reference/{room}.md"] = f"# {title}\n\n{introduction(room)}{entries}"
    return pages


def introduction(room: str) -> str:
    """The docstring of a folder whose names are used through it."""
    if room not in folders():
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


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """The theme would load from elsewhere what lets the search work without a server; ours stands beside the pages."""
    return output.replace(
        "https://unpkg.com/iframe-worker/shim", f"{'../' * page.url.count('/')}search_from_files.js"
    )
