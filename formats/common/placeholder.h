/* placeholder.h - what a repair writes for a string or stack that is lost; its id and ">" follow.
 */
#ifndef COMMON_PLACEHOLDER_H
#define COMMON_PLACEHOLDER_H

#define PLACEHOLDER_STRING "<lost string "
#define PLACEHOLDER_STACK  "<lost stack "

#endif
