/* names.c - replace names by pseudonyms of the same kind, so that a function still looks like one.
 */
#include "cmd/anonymize/names.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

enum {
    DIGITS = 12, /* of a pseudonym, 5 bits each */
    PART = DIGITS + 1,
};

void names_init(names *n, const void *key, size_t size)
{
    static const char purpose[] = "program counters";
    uint8_t digest[SHA256_DIGEST_SIZE];
    memset(n, 0, sizeof *n);
    hmac_sha256_set_key(&n->mac, size, key);
    struct hmac_sha256_ctx mac = n->mac;
    hmac_sha256_update(&mac, sizeof purpose, (const uint8_t *)purpose);
    hmac_sha256_digest(&mac, sizeof digest, digest);
    memcpy(&n->shift, digest, sizeof n->shift);
    n->shift = le64toh(n->shift); /* equal on every machine */
}

/* ---- parts of names -------------------------------------------------------------------------- */

typedef struct text {
    const char *p, *end;
} text;

static size_t size_of(text t)
{
    return (size_t)(t.end - t.p);
}

static bool is(text t, const char *word)
{
    return size_of(t) == strlen(word) && memcmp(t.p, word, size_of(t)) == 0;
}

static bool begins(text t, const char *word)
{
    return size_of(t) >= strlen(word) && memcmp(t.p, word, strlen(word)) == 0;
}

static bool ends(text t, const char *word)
{
    size_t size = strlen(word);
    return size_of(t) >= size && memcmp(t.end - size, word, size) == 0;
}

static const char *last_of(text t, char c)
{
    return size_of(t) > 0 ? memrchr(t.p, c, size_of(t)) : NULL;
}

/* The package of a function, up to the first point after the last slash; empty: this does not look
 * like a function, but like a text. The last element of a path has no points
 * ("gopkg.in/yaml%2ev3"). */
static text package_of(text name)
{
    const char *bracket = size_of(name) > 0 ? memchr(name.p, '[', size_of(name)) : NULL;
    text before = {name.p, bracket ? bracket : name.end};
    const char *slash = last_of(before, '/');
    const char *from = slash ? slash + 1 : name.p;
    const char *point = memchr(from, '.', (size_t)(before.end - from));
    bool good = point && point > from && !memchr(name.p, ' ', (size_t)(point - name.p));
    return (text){name.p, good ? point : name.p};
}

/* The last point before which there is an extension of source files; NULL: not a file. */
static const char *extension_of(text name)
{
    static const char *const extensions[] = {".go", ".s", ".S",   ".c",   ".h",
                                             ".cc", ".m", ".cpp", ".cxx", ".rs"};
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (ends(name, extensions[i]) && size_of(name) > strlen(extensions[i]))
            return name.end - strlen(extensions[i]);
    return NULL;
}

/* ---- pseudonyms ------------------------------------------------------------------------------ */

typedef struct maker {
    names *names;
    size_t size;
    bool full;
} maker;

static void put_bytes(maker *m, const char *p, size_t size)
{
    if (size > NAMES_MAX - m->size) {
        m->full = true;
        return;
    }
    memcpy(m->names->made + m->size, p, size);
    m->size += size;
}

static void put_text(maker *m, text t)
{
    put_bytes(m, t.p, size_of(t));
}

static void put_pseudonym(maker *m, text t)
{
    static const char digits[32] = "abcdefghijklmnopqrstuvwxyz234567";
    struct hmac_sha256_ctx mac = m->names->mac;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char made[PART] = "x";
    hmac_sha256_update(&mac, size_of(t), (const uint8_t *)t.p);
    hmac_sha256_digest(&mac, sizeof digest, digest);
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof bits; i++)
        bits = bits << 8 | digest[i];
    for (size_t i = 1; i < PART; i++, bits <<= 5)
        made[i] = digits[bits >> 59];
    put_bytes(m, made, PART);
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (unsigned char)c >= 0x80 || is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

/* Whether a symbol may have this character between its words. */
static bool joins_words(char c)
{
    return c != '\0' && strchr(".()*-[],", c);
}

static bool is_number(text t)
{
    for (const char *p = t.p; p < t.end; p++)
        if (!is_digit(*p))
            return false;
    return size_of(t) > 0;
}

/* Whether the compiler counts with this number: one with more digits is somebody's. */
static bool is_small_number(text t)
{
    enum { MOST_DIGITS = 6 };
    return is_number(t) && size_of(t) <= MOST_DIGITS;
}

/* Whether the compiler made this part of a name: func1, gowrap2, deferwrap1, init, glob. */
static bool is_of_compiler(text t)
{
    static const char *const words[] = {"func", "gowrap", "deferwrap", "init", "glob"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        text rest = {t.p + strlen(words[i]), t.end};
        if (begins(t, words[i]) && (rest.p == t.end || is_small_number(rest)))
            return true;
    }
    return false;
}

/* The rest of a function's name after its package: words are replaced, except those of the
 * compiler, and numbers that follow these: ".(*T).Do.func1.2-fm". False if there is anything except
 * words and what joins them. */
static bool put_symbol(maker *m, text rest, bool is_main)
{
    bool numbered = false; /* the last word was the compiler's */
    while (rest.p < rest.end) {
        text word = rest;
        for (word.end = rest.p; word.end < rest.end && is_word(*word.end); word.end++)
            ;
        if (word.end == word.p) {
            if (!joins_words(*rest.p))
                return false;
            put_bytes(m, rest.p++, 1);
            continue;
        }
        rest.p = word.end;
        bool stays = is_of_compiler(word) || (numbered && is_small_number(word)) ||
                     (word.p[-1] == '-' && is(word, "fm")) ||
                     (is_main && rest.p == rest.end && word.p[-1] == '.' && is(word, "main"));
        numbered = is_of_compiler(word) || (numbered && is_small_number(word));
        if (stays)
            put_text(m, word);
        else
            put_pseudonym(m, word);
    }
    return true;
}

/* Whether this is spelled like (a part of) a symbol of the standard library: ASCII words, of which
 * none begins with a digit but small numbers. */
static bool is_std_symbol(text t)
{
    while (t.p < t.end) {
        text word = t;
        for (word.end = t.p; word.end < t.end && is_word(*word.end); word.end++)
            if ((unsigned char)*word.end >= 0x80)
                return false;
        if (word.end == word.p && !joins_words(*word.p))
            return false;
        if (word.end > word.p && is_digit(*word.p) && !is_small_number(word))
            return false;
        t.p = word.end > word.p ? word.end : word.p + 1;
    }
    return true;
}

/* A function with type arguments: what is before them, they, and what is after them. */
typedef struct generic {
    text before, types,
        after; /* types: without the brackets; empty, like after, if there are none */
} generic;

static generic split_generic(text name)
{
    const char *bracket = size_of(name) > 0 ? memchr(name.p, '[', size_of(name)) : NULL;
    if (!bracket)
        return (generic){name, {name.end, name.end}, {name.end, name.end}};
    const char *end = last_of((text){bracket, name.end}, ']');
    text types = {bracket + 1, end ? end : name.end};
    return (generic){{name.p, bracket}, types, {types.end, name.end}};
}

/* A function of the standard library stays, except for type arguments that are spelled out. */
static void put_std(maker *m, text name)
{
    generic g = split_generic(name);
    put_text(m, g.before);
    if (g.before.end == name.end)
        return;
    put_bytes(m, "[", 1);
    if (is(g.types, "..."))
        put_text(m, g.types);
    else
        put_pseudonym(m, g.types);
    put_text(m, g.after);
}

static bool put_function(maker *m, text name, text package)
{
    bool is_main = is(package, "main");
    if (is_main)
        put_text(m, package);
    else
        put_pseudonym(m, package);
    return put_symbol(m, (text){package.end, name.end}, is_main && is(name, "main.main"));
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The part of a path from the package of the standard library on: "runtime/proc.go"; empty if it
 * has none, or if the file is not named like one of Go's. */
static text std_part(text path)
{
    const char *slash = last_of(path, '/');
    text none = {path.end, path.end};
    for (const char *p = slash ? slash + 1 : path.end; p < path.end; p++)
        if ((!is_word(*p) && *p != '.') || (unsigned char)*p >= 0x80)
            return none;
    for (const char *p = path.p; slash && p < slash; p++)
        if ((p == path.p || p[-1] == '/') && known_package(p, (size_t)(slash - p)))
            return (text){p, path.end};
    return none;
}

/* Whether a system or the Go project installs Go in this folder: "/usr/lib/go-1.26". */
static bool is_usual_root(text folder)
{
    static const char *const roots[] = {"/usr/local/go", "/usr/lib/go", "/usr/lib/golang",
                                        "/usr/share/go"};
    const char *end = folder.end;
    while (end > folder.p && (is_digit(end[-1]) || end[-1] == '.'))
        end--;
    if (end > folder.p && end < folder.end && end[-1] == '-' && folder.end - end <= 8)
        folder.end = end - 1; /* a version */
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (is(folder, roots[i]))
            return true;
    return false;
}

/* A file of the standard library stays; the folder in which Go is installed is replaced, unless it
 * is a usual one. */
static void put_std_file(maker *m, text path, text part)
{
    text folder = {path.p, part.p};
    const char *rest = ends(folder, "/src/") ? "/src/" : "/";
    text root = {folder.p, folder.end - strlen(rest)};
    if (size_of(folder) > strlen(rest) && !is_usual_root(root)) {
        put_bytes(m, "/", *folder.p == '/');
        put_pseudonym(m, root);
        put_text(m, (text){root.end, folder.end});
    } else {
        put_text(m, folder);
    }
    put_text(m, part);
}

static void put_file(maker *m, text path, const char *extension)
{
    const char *slash = last_of(path, '/');
    text base = {slash ? slash + 1 : path.p, extension};
    if (slash == path.p) {
        put_bytes(m, "/", 1);
    } else if (slash) {
        put_bytes(m, "/", *path.p == '/');
        put_pseudonym(m, (text){path.p, slash});
        put_bytes(m, "/", 1);
    }
    if (base.p < base.end)
        put_pseudonym(m, base);
    put_text(m, (text){extension, path.end});
}

/* ---- names ----------------------------------------------------------------------------------- */

/* gccgo writes _1 for a slash: "net_1http.Get". */
static bool is_known_to_gccgo(text package)
{
    char path[64];
    size_t size = 0;
    for (const char *p = package.p; p < package.end; p++) {
        bool slash = *p == '_' && p + 1 < package.end && p[1] == '1';
        if (size == sizeof path)
            return false;
        path[size++] = slash ? '/' : *p;
        p += slash;
    }
    return known_package(path, size);
}

static bool is_std_function(text name)
{
    text package = package_of(name);
    generic g = split_generic(name);
    return size_of(package) > 0 &&
           (known_package(package.p, size_of(package)) || is_known_to_gccgo(package)) &&
           is_std_symbol((text){package.end, g.before.end}) && is_std_symbol(g.after);
}

bool names_is_std(const char *name, size_t size)
{
    return is_std_function((text){name, name + size});
}

bool names_has_package(const char *name, size_t size)
{
    return !is(package_of((text){name, name + size}), "_");
}

static bool is_kept(names *n, text name)
{
    switch (n->keep ? pattern_match(n->keep, name.p, size_of(name)) : PATTERN_DIFFERS) {
    case PATTERN_MATCHES: return true;
    case PATTERN_TOO_HARD: n->too_hard = true; break;
    case PATTERN_NO_MEMORY: n->no_memory = true; break;
    case PATTERN_DIFFERS: break;
    }
    return false;
}

/* Whether Go has exactly this text where it is used. */
static bool is_known(unsigned roles, text name)
{
    return ((roles & NAMES_RUNTIME) && known_reason(name.p, size_of(name))) ||
           ((roles & (NAMES_FUNCTION | NAMES_FILE)) && known_symbol(name.p, size_of(name)));
}

/* False if the name does not look like what it is used as. */
static bool put_name(maker *m, unsigned roles, text name)
{
    text package = package_of(name);
    const char *extension = extension_of(name);
    text part = roles & NAMES_STD_FILE ? std_part(name) : (text){0};
    if (size_of(part) > 0)
        put_std_file(m, name, part);
    else if ((roles & NAMES_FUNCTION) && !m->names->all && is_std_function(name))
        put_std(m, name);
    else if ((roles & NAMES_FILE) && extension)
        put_file(m, name, extension);
    else
        return (roles & NAMES_FUNCTION) && size_of(package) > 0 && put_function(m, name, package);
    return true;
}

const char *names_replace(names *n, unsigned roles, const char *bytes, size_t *size)
{
    text name = {bytes, bytes + *size};
    if (n->all)
        roles &= ~(unsigned)NAMES_STD_FILE;
    if (size_of(name) == 0 || (!n->all && is_known(roles, name)) || is_kept(n, name))
        return bytes;
    maker m = {.names = n};
    if (!put_name(&m, roles, name) || m.full) {
        m.size = 0;
        put_pseudonym(&m, name);
    }
    *size = m.size;
    return n->made;
}

/* A rotation of the PCs whose varints have the same size. */
uint64_t names_shift_pc(const names *n, uint64_t pc)
{
    unsigned bits = 7;
    if (pc == 0)
        return 0;
    while (bits < 63 && pc >> bits)
        bits += 7;
    uint64_t first = bits == 7 ? 1 : UINT64_C(1) << (bits == 63 && pc >> 63 ? 63 : bits - 7);
    uint64_t count = bits == 7                ? 127
                     : bits == 63 && pc >> 63 ? UINT64_C(1) << 63
                                              : (UINT64_C(1) << bits) - first;
    uint64_t shift = 1 + n->shift % (count - 1);
    return first + (pc - first + shift) % count;
}
