/* Reads settings, one `name = value` a line, and prints them. */
#include <ctype.h>
#include <stdio.h>

struct setting {
    char name[24];
    int value;
};

int main(void)
{
    struct setting settings[16];
    char line[200];
    int count = 0;
    while (fgets(line, sizeof line, stdin)) {
        struct setting *new = &settings[count];
        const char *p = line;
        int size = 0;
        while (isalnum((unsigned char)*p))
            new->name[size++] = *p++;
        new->name[size] = 0;
        if (size == 0 || sscanf(p, " = %d", &new->value) != 1)
            return 1;
        count++;
    }
    for (int i = 0; i < count; i++)
        printf("%s is %d\n", settings[i].name, settings[i].value);
    return 0;
}
