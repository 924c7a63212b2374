/* page.h - the page of `gotrace view`: HTML, CSS and JavaScript, as they are in this folder. */
#ifndef VIEW_PAGE_H
#define VIEW_PAGE_H

#include <stddef.h>

typedef struct view_page_file {
    const char
        *path; /* "/" is the page itself; "/panes.html": that of several traces; "/view.js", ... */
    const char *type; /* of the content: "text/html; charset=utf-8" */
    const char *bytes;
    size_t size;
} view_page_file;

/* All files of the page; a path of NULL after the last. */
extern const view_page_file view_page_files[];

/* The page within a report: the style sheet, the inside of <body>, and all modules as one script;
 * and what the Content-Security-Policy calls them. */
extern const char view_page_style[], view_page_body[], view_page_script[];
extern const size_t view_page_style_size, view_page_body_size, view_page_script_size;
extern const char view_page_style_hash[], view_page_script_hash[];

#endif
