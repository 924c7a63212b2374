/* print.h - the printers, each in a file print_NAME.c. */
#ifndef PRINT_H
#define PRINT_H

#include "formats.h"

extern const printer printer_text, printer_go, printer_jsonl;

#endif
