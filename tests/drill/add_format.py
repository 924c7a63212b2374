"""Add a format, which converts to a graph of the creations of goroutines, to the tree in the current folder: its folder,
and its name in the list of formats. Prints the files outside of its folder that it changed."""
import os

from edits import fragment, replace

os.mkdir('formats/graphviz')
with open('formats/graphviz/graphviz.c', 'w', encoding='utf-8') as f:
    f.write(fragment('graphviz.c'))
replace('formats/formats.h', ('format_parquet;', 'format_parquet, format_graphviz;'))
replace('formats/formats.c', ('&format_parquet, NULL', '&format_parquet, &format_graphviz, NULL'))
