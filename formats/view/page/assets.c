/* assets.c - the files of the page, which the Makefile converts to what is included here. */
#include "formats/view/page/page.h"

static const char index_html[] = {
#include "formats/view/page/index.html.inc"
};
const char view_page_style[] = {
#include "formats/view/page/view.css.inc"
};
static const char view_js[] = {
#include "formats/view/page/view.js.inc"
};
static const char api_js[] = {
#include "formats/view/page/api.js.inc"
};
static const char draw_js[] = {
#include "formats/view/page/draw.js.inc"
};
static const char format_js[] = {
#include "formats/view/page/format.js.inc"
};
static const char input_js[] = {
#include "formats/view/page/input.js.inc"
};
static const char jobs_js[] = {
#include "formats/view/page/jobs.js.inc"
};
static const char panel_js[] = {
#include "formats/view/page/panel.js.inc"
};
static const char panes_html[] = {
#include "formats/view/page/panes.html.inc"
};
static const char panes_js[] = {
#include "formats/view/page/panes.js.inc"
};
static const char rows_js[] = {
#include "formats/view/page/rows.js.inc"
};

static const char stored_js[] = {
#include "formats/view/page/stored.js.inc"
};
static const char stretches_js[] = {
#include "formats/view/page/stretches.js.inc"
};
const char view_page_body[] = {
#include "bundle/timeline.html.inc"
};
const char view_page_script[] = {
#include "bundle/timeline.js.inc"
};
const size_t view_page_style_size = sizeof view_page_style;
const size_t view_page_body_size = sizeof view_page_body;
const size_t view_page_script_size = sizeof view_page_script;
const char view_page_style_hash[] =
#include "formats/view/page/view.css.hash"
    ;
const char view_page_script_hash[] =
#include "bundle/timeline.js.hash"
    ;

#define HTML   "text/html; charset=utf-8"
#define CSS    "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"

const view_page_file view_page_files[] = {
    {"/", HTML, index_html, sizeof index_html},
    {"/view.css", CSS, view_page_style, sizeof view_page_style},
    {"/view.js", SCRIPT, view_js, sizeof view_js},
    {"/api.js", SCRIPT, api_js, sizeof api_js},
    {"/draw.js", SCRIPT, draw_js, sizeof draw_js},
    {"/format.js", SCRIPT, format_js, sizeof format_js},
    {"/input.js", SCRIPT, input_js, sizeof input_js},
    {"/jobs.js", SCRIPT, jobs_js, sizeof jobs_js},
    {"/panel.js", SCRIPT, panel_js, sizeof panel_js},
    {"/panes.html", HTML, panes_html, sizeof panes_html},
    {"/panes.js", SCRIPT, panes_js, sizeof panes_js},
    {"/rows.js", SCRIPT, rows_js, sizeof rows_js},
    {"/stored.js", SCRIPT, stored_js, sizeof stored_js},
    {"/stretches.js", SCRIPT, stretches_js, sizeof stretches_js},
    {NULL, NULL, NULL, 0},
};
