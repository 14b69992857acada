// Libraries that are not instrumented: mathematics, random numbers, conversions.
#include "bomb.h"
#include <math.h>

int number_from_text(const char *s) { return atoi(s) == 29; }

int hexadecimal_from_text(const char *s) { return strtol(s, NULL, 16) == 0xd5; }

int text_from_number(const char *s)
{
    char text[16];
    sprintf(text, "%d", 7 * (s[0] - '0') + 100);
    return strcmp(text, "149") == 0;
}

int printed_before(const char *s)
{
    int x = s[0] * 3 + 11;
    printf("%d\n", x);
    return x == 362;
}

int logarithm(const char *s)
{
    double x = log(s[0] - 'A');
    return x > 2.48 && x < 2.49;
}

int power(const char *s) { return pow(s[0] - '0', 3) == 512; }

int sine(const char *s) { return sin(s[0] * 3.14159265358979 / 90) > 0.99999; }

int random_seed(const char *s)
{
    srand((unsigned char)s[0]);
    return rand() % 50 == 31;
}

int root(const char *s) { return sqrt((unsigned char)s[0]) == 11; }
