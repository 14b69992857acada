/* Ways to read standard input of which libc does not say what they read, or that are macros. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char *gets(char *to);

int main(int count, char **arguments)
{
    static char word[1 << 20], rest[1 << 20];
    const char *how = count > 1 ? arguments[1] : "";
    int byte;
    if (strcmp(how, "words") == 0) {
        /* Words that are longer than a stream's buffer, several in one call. */
        while (scanf("%s%s", word, rest) == 2)
            printf("%zu %zu\n", strlen(word), strlen(rest));
    } else if (strcmp(how, "gets") == 0) {
        while (gets(word) != NULL)
            puts(word);
    } else if (strcmp(how, "mixed") == 0) {
        if (scanf("%d", &byte) == 1)
            printf("%d", byte);
        while ((byte = getc_unlocked(stdin)) != EOF)
            putchar(byte);
    }
    return ferror(stdin) || !feof(stdin);
}
