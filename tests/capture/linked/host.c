/* A program that loads a plugin; nothing of it is captured. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    char line[100];
    void *plugin = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    if (plugin == NULL)
        return 9;
    int (*read_line)(char *, int) = (int (*)(char *, int))dlsym(plugin, "library_line");
    int (*read_file)(const char *) = (int (*)(const char *))dlsym(plugin, "library_read");
    read_line(line, sizeof line);
    fputs(line, stdout);
    read_file("of-library");
    dlclose(plugin);
    return 0;
}
