#!/usr/bin/env python3
"""pages.py GO-TRACE TRACE [PATH=WORD ...]: `go tool trace -http` shows every page of the trace, and those of
the paths contain the words. A page of goroutines has a link for each function, and a page for that. Profiles
are fetched as they are for `go tool pprof`. Prints what is wrong; status 1 if anything is.
"""
import gzip
import html
import re
import sys
import urllib.error

from chrome import Server

PAGES = ["/", "/trace", "/goroutines", "/usertasks", "/userregions", "/mmu"]
PROFILES = ["/io", "/block", "/syscall", "/sched"]


def main():
    program, trace = sys.argv[1:3]
    expected = [argument.split("=", 1) for argument in sys.argv[3:]]
    wrong = []
    with Server(program, trace) as server:

        def fetch(path, query=""):
            try:
                page = server.page(path + query)
            except (urllib.error.URLError, OSError) as error:
                wrong.append(f"{path}{query}: {error}")
                return ""
            if page[:2] == b"\x1f\x8b":
                page = gzip.decompress(page)
            if not page:
                wrong.append(f"{path}{query}: nothing")
            return page.decode("utf-8", "replace")

        pages = {path: fetch(path) for path in PAGES}
        pages.update({path: fetch(path, "?raw=1") for path in PROFILES})
        links = re.findall(r'href="(/goroutine\?[^"]*)"', pages["/goroutines"])
        if not links:
            wrong.append("/goroutines: no link to a function")
        for link in map(html.unescape, links):
            pages["/goroutine"] = pages.get("/goroutine", "") + fetch(link.replace(" ", "%20"))
        pages["/jsontrace"] = fetch("/jsontrace")
    for path, word in expected:
        if word not in pages[path]:
            wrong.append(f"{path}: no {word}")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
