// Fopen of a name with a slash.
#include <stdio.h>
int main(void)
{
    fclose(fopen("conftest.sl", "w"));
    return fopen("conftest.sl/", "r") != 0;
}
