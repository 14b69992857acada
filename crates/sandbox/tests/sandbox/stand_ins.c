/* A program or library (SAYS: "original" or "stand-in"): the first argument says what it does after it has
 * said who it is. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef LIBRARY
const char *says(void) { return SAYS; }
#else
#ifdef LINKED
const char *says(void);
#else
static const char *says(void) { return SAYS; }
#endif

/* What fails, and why. */
static void try(const char *what, int result)
{
    printf(" %s=%s", what, result < 0 ? strerrorname_np(errno) : "done");
}

static void change(const char *path)
{
    try("unlink", unlink(path));
    try("rename", rename(path, "other"));
    try("link", link(path, "other"));
    try("chmod", chmod(path, 0600));
    try("write", open(path, O_WRONLY));
    try("read", open(path, O_RDONLY));
}

static void load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    const char *(*its)(void) = library != NULL ? (const char *(*)(void))dlsym(library, "says") : NULL;
    printf(" loads %s", its != NULL ? its() : "nothing");
}

int main(int count, char **arguments)
{
    char exe[4096] = "";
    const char *what = count > 1 ? arguments[1] : "";
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0 || geteuid() != getuid())
        return 1;
    printf("%s %s %s", says(), arguments[0], exe);
    if (strcmp(what, "change") == 0)
        change(exe);
    else if (strcmp(what, "load") == 0)
        load(arguments[2]);
    printf("\n");
    fflush(stdout);
    if (strcmp(what, "again") == 0)
        execl("/proc/self/exe", arguments[0], (char *)NULL);
    else if (strcmp(what, "start") == 0)
        execl(arguments[2], arguments[2], (char *)NULL);
    return 0;
}
#endif
