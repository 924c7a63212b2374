#include "cmd/completion.h"

#include <string.h>

#include "cmd/options.h"

static const char *const shells[] = {"bash", "zsh", NULL};

const char *completion_shell(size_t n)
{
    return shells[n];
}

static void out_choices(out *o, const option_spec *option)
{
    for (size_t i = 0; option->choice(i); i++)
        out_printf(o, "%s%s", i ? " " : "", option->choice(i));
}

static void out_verb_names(out *o)
{
    for (size_t i = 0; verbs[i]; i++)
        out_printf(o, "%s%s", i ? " " : "", verbs[i]->name);
}

/* One verb: the values of its options that have a choice, else the options themselves. */
static void bash_verb(out *o, const verb *v)
{
    const option_spec *option;
    out_printf(o, "    %s)\n        case $previous in\n", v->name);
    for (size_t n = 0; (option = option_at(v, n)); n++) {
        if (!option->choice)
            continue;
        out_printf(o, "        --%s)\n            words=\"", option->name);
        out_choices(o, option);
        out_str(o, "\" ;;\n");
    }
    out_str(o, "        *)\n            [[ $current != -* ]] || words=\"");
    for (size_t n = 0; (option = option_at(v, n)); n++) {
        out_printf(o, "%s--%s", n ? " " : "", option->name);
        if (option->letter)
            out_printf(o, " -%c", option->letter);
    }
    out_str(o, "\" ;;\n        esac\n        ;;\n");
}

static void write_bash(out *o)
{
    out_str(o, "# bash completion for gotrace; made by 'gotrace help --completion bash'\n"
               "_gotrace()\n{\n"
               "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
               "    local words=\"\"\n"
               "    if [[ $COMP_CWORD -eq 1 ]]; then\n        words=\"");
    out_verb_names(o);
    out_str(o, " --help --version\"\n    else\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; verbs[i]; i++)
        bash_verb(o, verbs[i]);
    out_str(o, "    esac\n"
               "    if [[ ${COMP_WORDS[1]} == help && -z $words ]]; then\n        words=\"");
    out_verb_names(o);
    out_str(o, "\"\n    fi\n    fi\n"
               "    if [[ -n $words ]]; then\n"
               "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
               "    else\n"
               "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
               "        compopt -o filenames 2>/dev/null\n"
               "    fi\n}\n"
               "complete -F _gotrace gotrace\n");
}

/* Text inside '...[...]' of zsh's _arguments: quotes and brackets escaped. */
static void zsh_text(out *o, const char *s)
{
    for (; *s; s++) {
        if (*s == '\'')
            out_str(o, "'\\''");
        else if (*s == '[' || *s == ']' || *s == ':')
            out_printf(o, "\\%c", *s);
        else
            out_char(o, *s);
    }
}

static void zsh_option(out *o, const option_spec *option)
{
    if (option->letter)
        out_printf(o, " \\\n            '(-%c --%s)'{-%c,--%s%s}'[", option->letter, option->name,
                   option->letter, option->name, option->value ? "=" : "");
    else
        out_printf(o, " \\\n            '--%s%s[", option->name, option->value ? "=" : "");
    zsh_text(o, option->summary);
    out_char(o, ']');
    if (option->value) {
        out_printf(o, ":%s:", option->value);
        if (option->choice) {
            out_char(o, '(');
            out_choices(o, option);
            out_char(o, ')');
        } else if (option->type == OPTION_TEXT) {
            out_str(o, "_files");
        }
    }
    out_char(o, '\'');
}

static void write_zsh(out *o)
{
    const option_spec *option;
    out_str(o, "#compdef gotrace\n"
               "# zsh completion for gotrace; made by 'gotrace help --completion zsh'\n"
               "_gotrace() {\n"
               "    local -a verbs\n    verbs=(\n");
    for (size_t i = 0; verbs[i]; i++) {
        out_printf(o, "        '%s:", verbs[i]->name);
        zsh_text(o, verbs[i]->summary);
        out_str(o, "'\n");
    }
    out_str(o, "    )\n"
               "    if (( CURRENT == 2 )); then\n"
               "        _describe verb verbs\n        return\n    fi\n"
               "    local verb=$words[2]\n"
               "    shift words\n    (( CURRENT-- ))\n"
               "    case $verb in\n");
    for (size_t i = 0; verbs[i]; i++) {
        out_printf(o, "    %s)\n        _arguments -s", verbs[i]->name);
        for (size_t n = 0; (option = option_at(verbs[i], n)); n++)
            zsh_option(o, option);
        if (verbs[i] == &verb_help)
            out_str(o, " \\\n            '1:verb:{_describe verb verbs}'");
        else if (verbs[i]->max_args > 0)
            out_str(o, " \\\n            '*:file:_files'");
        out_str(o, "\n        ;;\n");
    }
    out_str(o, "    esac\n}\n_gotrace \"$@\"\n");
}

void completion_write(out *o, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        write_bash(o);
    else
        write_zsh(o);
}
