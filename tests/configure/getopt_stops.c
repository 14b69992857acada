// Getopt stops.
#include <unistd.h>
int main(void)
{
    char *v[] = {"p", "-a", "x", "-b", 0};
    int n = 0;
    while (getopt(4, v, "+ab") != -1) n++;
    return n * 10 + optind;
}
