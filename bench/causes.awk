# causes.awk: the confusion matrix of lines "TRACE PLANTED-CAUSE FINDING...", for causes.sh.

# Adds a column or row at the end of the list.
function add(list, id) {
    if ((list, id) in known)
        return
    known[list, id] = 1
    names[list, ++count[list]] = id
}

function percent(part, all) { return all ? 100 * part / all : 100 }

# Prints a share, and whether it meets its target.
function target(what, part, all, least,    share) {
    if (!all)
        return
    share = percent(part, all)
    printf "%-34s %4d of %4d  %5.1f %%   >= %d %%   %s\n", what, part, all, share, least,
        (share < least ? "MISSED" : "met")
    if (share < least)
        missed = 1
}

{
    planted = $2
    if (planted != "healthy")
        add("row", planted)
    first = NF > 2 ? $3 : "none"
    add("column", first)
    cells[planted, first]++
    if (planted == "healthy") {
        healthy++
        right = (first == "none")
        silent += right
    } else {
        causes++
        right = (first == planted)
        firsts += right
        strength = substr($1, length($1))
        of_strength[strength]++
        firsts_of_strength[strength] += right
        seconds += (right || $4 == planted)
    }
    if (!right) {
        line = $1 ":"
        for (i = 3; i <= NF; i++)
            line = line " " $i
        wrong[++wrongs] = NF > 2 ? line : line " none"
    }
}

END {
    if (healthy)
        add("row", "healthy")
    # Healthy programs are the last row. The columns: the planted causes in the order of the rows, what else
    # was found, and none.
    for (r = 1; r <= count["row"]; r++)
        if (names["row", r] != "healthy")
            order[++columns] = names["row", r]
    for (c = 1; c <= count["column"]; c++) {
        id = names["column", c]
        if (id != "none" && (!(("row", id) in known) || id == "healthy"))
            order[++columns] = id
    }
    order[++columns] = "none"

    print "planted cause (rows), first finding (columns):\n"
    for (c = 1; c <= columns; c++)
        printf "%6s %s\n", "(" c ")", order[c]
    printf "\n%-20s", ""
    for (c = 1; c <= columns; c++)
        printf "%5s", "(" c ")"
    print ""
    for (r = 1; r <= count["row"]; r++) {
        printf "%-20s", names["row", r]
        for (c = 1; c <= columns; c++)
            printf "%5s", (names["row", r], order[c]) in cells ? cells[names["row", r], order[c]] : "."
        print ""
    }
    print ""
    if (wrongs) {
        print "traces with another first finding:"
        for (i = 1; i <= wrongs; i++)
            print "  " wrong[i]
        print ""
    }
    target("planted cause is the first finding", firsts, causes, 90)
    for (s = 1; s <= 3; s++)
        if (s in of_strength)
            printf "  with strength %d %22d of %4d  %5.1f %%\n", s, firsts_of_strength[s], of_strength[s],
                percent(firsts_of_strength[s], of_strength[s])
    target("is among the first two", seconds, causes, 97)
    target("healthy, and no finding", silent, healthy, 90)
    exit missed
}
