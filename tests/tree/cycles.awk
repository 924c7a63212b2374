# cycles.awk - prints the modules that include each other. A module is the .c and the .h of one name. The input is
# what grep -H '#include "' prints for all of them. For each module of a cycle there is a line
# "MODULE: MODULE...": those that it includes, and that include it, directly or not.

function module(file) {
    sub(/\.[ch]$/, "", file)
    return file
}

# Marks what a module includes, directly or not, as reached from start.
function reach(start, from,    n, i, list) {
    n = split(includes[from], list)
    for (i = 1; i <= n; i++)
        if (!((start, list[i]) in reached)) {
            reached[start, list[i]]
            reach(start, list[i])
        }
}

# FILE:#include "HEADER"
{
    file = header = $0
    sub(/:.*/, "", file)
    sub(/^[^"]*"/, "", header)
    sub(/".*/, "", header)
    from[NR] = file
    what[NR] = header
    modules[module(file)]
}

END {
    # A header is found from the root, from lib, and from the folder of the file.
    for (n = 1; n <= NR; n++) {
        folder = from[n]
        sub(/[^\/]*$/, "", folder)
        includer = module(from[n])
        split(what[n] " lib/" what[n] " " folder what[n], places)
        for (i in places)
            if (module(places[i]) in modules && module(places[i]) != includer)
                includes[includer] = includes[includer] " " module(places[i])
    }
    for (m in modules)
        reach(m, m)
    for (m in modules) {
        if (!((m, m) in reached))
            continue
        line = ""
        n = split(includes[m], list)
        for (i = 1; i <= n; i++)
            if ((list[i], m) in reached && index(line " ", " " list[i] " ") == 0)
                line = line " " list[i]
        print m ":" line
    }
}
