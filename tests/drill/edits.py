"""What the scripts of the drill share: edits of the tree in the current folder. Each edited file is printed."""
import os
import sys

drill = os.path.dirname(os.path.abspath(__file__))


def fragment(name):
    with open(os.path.join(drill, name), encoding='utf-8') as f:
        return f.read()


def replace(path, *edits):
    """Replace the only place that has that text."""
    with open(path, encoding='utf-8') as f:
        text = f.read()
    for old, new in edits:
        if text.count(old) != 1:
            sys.exit(f'{path}: {old!r} is there {text.count(old)} times, not once')
        text = text.replace(old, new)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    print(path)


def insert(path, *edits):
    """Insert text before the only line that begins with `before`."""
    replace(path, *(('\n' + before, '\n' + new + before) for before, new in edits))
