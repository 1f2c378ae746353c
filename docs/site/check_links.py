"""Every link of the built site leads to a file of it, and to an anchor of that file: `check_links.py FOLDER`.

MkDocs checks the links of the pages that it is given; this checks what mkdocstrings and mkdoxy make of theirs.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.anchors = {"", "__top"}
        self.links = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors.update(value for name in ("id", "name") if (value := given.get(name)))
        link = given.get("href") if tag in ("a", "link") else given.get("src")
        if link:
            self.links.append(link)


def main():
    root = Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in sorted(root.rglob("*.html"))}
    problems = []
    count = 0
    for path, page in pages.items():
        if path.name == "404.html":  # served from any folder, so its links start at the root
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            anchor = unquote(parts.fragment)
            if not target.is_file():
                problems.append(f"{path.relative_to(root)}: link to '{link}', expected a file of the site")
            elif target in pages and anchor not in pages[target].anchors:
                problems.append(f"{path.relative_to(root)}: link to '{link}', expected an anchor of that page")
    for problem in sorted(set(problems)):
        print(f"docs: {problem}", file=sys.stderr)
    if not count:
        print(f"docs: {root}: no links, expected a site", file=sys.stderr)
    print(f"docs: {len(pages)} pages, {count} links, {len(problems)} broken", file=sys.stderr)
    sys.exit(bool(problems) or not count)


if __name__ == "__main__":
    main()
