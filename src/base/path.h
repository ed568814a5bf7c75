/* Paths as text; nothing here asks whether they exist. Any thread. */
#ifndef CC_BASE_PATH_H
#define CC_BASE_PATH_H

/* The path from the root, by the working folder as it is now; links are not followed. As it is
 * where the folder is unknown. The caller frees it. */
char *cc_path_absolute(const char *path);

#endif
