//@ command = "nearmiss explore made_global.c --function intern --global table --range which=0..1 --null table.words"
//@ paths = 3
// A global leads to what is made, too.
#include <stdlib.h>
#include <string.h>

struct table {
    char *words[2];
    int used;
} table;

int intern(int which, const char *word)
{
    if (table.words[which])
        return 0;
    table.words[which] = malloc(4);
    if (word[0] == 'x') {
        strcpy(table.words[which], "xyz");
        return 1;
    }
    memcpy(table.words[which], "full", 4);
    return 2;
}
