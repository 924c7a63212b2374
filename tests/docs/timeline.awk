# timeline.awk: draws the goroutines of `gotrace print` as rows of 60 columns: # running, = runnable, - in a
# system call, . waiting; of several states in a column, the longest. Wrote the picture in
# man/gotrace-record.1: gotrace print pigz.trace | awk -f tests/docs/timeline.awk
function add(g, from, to, state,    c, a, b) {
    for (c = int(from / width); c <= int(to / width) && c < 60; c++) {
        a = c * width > from ? c * width : from
        b = (c + 1) * width < to ? (c + 1) * width : to
        if (b > a)
            time[g, c, state] += b - a
    }
}
{ line[NR] = $0; if ($1 > last) last = $1 }
END {
    width = last / 60
    split("running runnable syscall waiting", states)
    split("# = - .", marks)
    for (n = 1; n <= NR; n++) {
        if (!match(line[n], /G[0-9]+ [a-z-]+ -> [a-z-]+/))
            continue
        split(substr(line[n], RSTART + 1, RLENGTH - 1), part, " ")
        split(line[n], field, " ")
        g = part[1]
        add(g, since[g], field[1], state[g])
        since[g] = field[1]
        state[g] = part[4]
        if (g > most)
            most = g + 0
    }
    for (g = 1; g <= most; g++) {
        add(g, since[g], last, state[g])
        row = ""
        for (c = 0; c < 60; c++) {
            mark = " "
            best = 0
            for (i = 1; i <= 4; i++)
                if (time[g, c, states[i]] > best) {
                    best = time[g, c, states[i]]
                    mark = marks[i]
                }
            row = row mark
        }
        sub(/ +$/, "", row)
        printf "G%-2d %s\n", g, row
    }
    printf "    0%59.0f ms\n", last * 1000
}
