"""What MkDocs cannot read from a file: navigation, formulas, notebooks, and the pages of the reference."""

import ast
import html
import json
import re
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import urlparse

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

try:
    import griffe
    from latex2mathml.converter import convert

    import uqf  # noqa: F401  compiled classes have docstrings only where they are loaded
except ImportError as error:
    raise SystemExit(
        f"the site needs the package and its extra: pip install '.[docs]', or make docs ({error})"
    ) from error

ROOT = Path(__file__).parent.parent
INDEX = ROOT / "docs" / "README.md"

#: Titles of the folders and files that public names come from, in the order of the reference.
ROOMS = {
    "learn": "Learners",
    "episodes": "Episodes",
    "logs": "Logs",
    "coding": "Codebooks",
    "reading": "More data than memory",
    "worlds": "Worlds",
    "policies": "Policies",
    "agent": "Agents",
    "storage": "Files of policies",
    "evaluate": "Rollouts and returns",
    "iteration": "Policy iteration",
    "ope": "Off-policy evaluation",
    "reports": "Reports",
    "strings": "Strings",
    "baselines": "Baselines",
    "errors": "Errors",
    "types": "Types",
}

#: Names of types that signatures use; those of `uqf.types` come first.
TYPES = (
    "uqf.reading.shards.Data",
    "uqf.reading.shards.Workers",
    "uqf.evaluate.WorldLike",
    "uqf.storage.policies.Storable",
)


def public_names(package: str) -> dict[str, list[str]]:
    """Names that a package exports as ``X as X``, in order, by the folder or file that they come from.

    Those of a folder are written with their file: `uqf.ope.evaluate` is a file as well as a function in it.
    """
    folder = ROOT / "python" / package.replace(".", "/")
    found: dict[str, list[str]] = {}
    stub = folder / "__init__.pyi"
    surface = stub if stub.exists() else folder / "__init__.py"
    for node in ast.walk(ast.parse(surface.read_text())):
        if not isinstance(node, ast.ImportFrom) or not node.module or not node.module.startswith("uqf."):
            continue
        names = [one.asname for one in node.names if one.asname and not one.asname.startswith("_")]
        if names:
            place = package if package == "uqf" else node.module
            found.setdefault(node.module.split(".")[1], []).extend(f"{place}.{name}" for name in names)
    return found


def folders() -> list[str]:
    """Folders whose names are used through them, such as `uqf.ope`."""
    tree = ast.parse((ROOT / "python" / "uqf" / "__init__.pyi").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "uqf"]
    return [name.name for node in imports for name in node.names]


def reference() -> dict[str, str]:
    """Markdown of the reference, by path: a page for every folder, whatever names it gets."""
    names = public_names("uqf")
    for folder in folders():
        names[folder] = [*chain(*public_names(f"uqf.{folder}").values())]
    aliases = ast.parse((ROOT / "python" / "uqf" / "types.py").read_text()).body
    names["types"] = [
        f"uqf.types.{node.targets[0].id}" for node in aliases if isinstance(node, ast.Assign)
    ] + [*TYPES]
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


def formulas(markdown: str) -> str:
    """TeX as MathML, which browsers show by themselves: blocks of the language math, $$…$$ and $…$ outside of code."""
    blocks = re.compile(r"^```math\n(.*?)^```|^\$\$(.*?)\$\$", re.DOTALL | re.MULTILINE)
    markdown = blocks.sub(
        lambda found: f"\n<div class='wide'>{_mathml(found[1] or found[2], 'block')}</div>\n", markdown
    )
    inline = re.compile(r"(^```.*?^```|`[^`\n]*`)|\$([^$\n]+)\$", re.DOTALL | re.MULTILINE)
    # A line that begins with <math> would be a block of its own.
    return inline.sub(lambda found: found[1] or f"<span>{_mathml(found[2], 'inline')}</span>", markdown)


def _mathml(tex: str, display: str) -> str:
    # Markdown would take what follows a blank line for a paragraph of its own.
    return convert(" ".join(tex.split()), display=display).replace("\n", "")


def notebooks() -> dict[str, str]:
    """Markdown of the notebooks with what their cells printed and drew, by path."""
    pages = {}
    for path in sorted((ROOT / "examples").glob("*.ipynb")):
        parts = []
        for cell in json.loads(path.read_text())["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                parts.append(source)
                continue
            parts.append(f"```python\n{source}\n```")
            for output in cell["outputs"]:
                if "text" in output:
                    parts.append(f"<pre class='printed'>{html.escape(''.join(output['text']))}</pre>")
                elif "image/png" in output["data"]:
                    image = "".join(output["data"]["image/png"]).replace("\n", "")
                    parts.append(f'<img alt="what the cell above draws" src="data:image/png;base64,{image}">')
        pages[f"notebooks/{path.stem}.md"] = "\n\n".join(parts)
    return pages


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Navigation: sections and pages in the order of docs/README.md, then the reference."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    config.repo_url = urls["Source"]
    nav: list[dict[str, object]] = [{"Start": "README.md"}]
    for section in re.split(r"^## ", INDEX.read_text(), flags=re.MULTILINE)[1:]:
        title, _, table = section.partition("\n")
        pages = re.findall(r"^\| \[([^\]]+)\]\(([\w-]+\.md)\)", table, flags=re.MULTILINE)
        nav.append({title: [{name[:1].upper() + name[1:]: path} for name, path in pages]})
    nav.append({"Notebooks": list(notebooks())})
    nav.append({"Reference": list(reference())})
    config.nav = nav
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds notebooks and the reference, which stand in no file of this folder."""
    for path, text in (notebooks() | reference()).items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Formulas; and links to files outside docs/ lead to the repository, to notebooks that are pages excepted."""
    markdown = formulas(markdown)
    markdown = re.sub(r"\]\(\.\./examples/([^)\s]+)\.ipynb\)", r"](notebooks/\1.md)", markdown)
    return re.sub(r"\]\(\.\./([^)\s]+)\)", rf"]({config.repo_url}/blob/main/\1)", markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """The theme would load from elsewhere what lets the search work without a server; ours stands beside the pages.

    And no dash stands where nothing follows it.
    """
    output = re.sub(r"\s–\s*(<div class=\"doc-md-description\">\s*</div>)", r"\1", output)
    return output.replace(
        "https://unpkg.com/iframe-worker/shim", f"{'../' * page.url.count('/')}search_from_files.js"
    )


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """The page for addresses that do not exist is shown at any of them: its links begin at the root of the site."""
    if template_name != "404.html":
        return output
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    return re.sub(r'(href|src)="/', rf'\1="{urlparse(urls["Documentation"]).path}/', output)


class OwnTypes(griffe.Extension):
    """Parameters that are described together each get their own type and default; griffe takes those of the first."""

    def on_package(self, *, pkg: griffe.Module, **_: object) -> None:
        """Corrects what was read of all docstrings."""
        for function in functions(pkg):
            for section in function.docstring.parsed if function.docstring else ():
                if section.kind is not griffe.DocstringSectionKind.parameters:
                    continue
                for described in section.value:
                    if described.name not in function.parameters:
                        continue
                    own = function.parameters[described.name]
                    if isinstance(described.annotation, str):  # shown as code, where backticks would be seen
                        described.annotation = described.annotation.replace("`", "")
                    else:
                        described.annotation = own.annotation
                    described.value = None if own.default is None else str(own.default)


def functions(found: griffe.Object) -> Iterator[griffe.Function | griffe.Class]:
    """All functions and classes of a module and its modules."""
    for member in found.members.values():
        if member.is_alias:
            continue
        if member.is_function or member.is_class:
            yield member
        if member.is_module or member.is_class:
            yield from functions(member)
