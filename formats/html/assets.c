/* assets.c - report.css and report.js, with what it imports, which the Makefile converts to what is
 * included here. */
#include "formats/html/html.h"

const char html_style[] = {
#include "formats/html/report.css.inc"
};
const char html_script[] = {
#include "bundle/report.js.inc"
};
const size_t html_style_size = sizeof html_style;
const size_t html_script_size = sizeof html_script;
const char html_style_hash[] =
#include "formats/html/report.css.hash"
    ;
const char html_script_hash[] =
#include "bundle/report.js.hash"
    ;
