/* browser.h - start the user's browser. */
#ifndef VIEW_BROWSER_H
#define VIEW_BROWSER_H

/* Starts $BROWSER, or xdg-open, with the address, without the restrictions of this process. A
 * warning if it cannot be started. */
void browser_open(const char *address);

#endif
