# columns.awk - print the cells of the tables in manual pages (.Bl -column) that are wider than their
# column: such a row is broken into two lines.
function width(text) {
    gsub(/(^| )(Ar|Cm|Em|Fl|No|Pa|Sy)( |$)/, " ", text)
    gsub(/^ +| +$/, "", text)
    gsub(/ ,/, ",", text)
    return length(text)
}
/^\.Bl -column / {
    count = 0
    rest = substr($0, 13)
    while (match(rest, /^ *("[^"]*"|[^ "]+)/)) {
        cell = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        gsub(/^ *"?|"$/, "", cell)
        if (cell ~ /^-/)
            break
        columns[++count] = length(cell)
    }
}
/^\.El/ { count = 0 }
count && /^\.It / {
    cells = split(substr($0, 5), row, / Ta /)
    for (i = 1; i < cells; i++)
        if (width(row[i]) > columns[i])
            printf "%s:%d: %s\n", FILENAME, FNR, row[i]
}
