// Loops whose number of turns is what counts.
#include "bomb.h"

static int turns(long x)
{
    int count = 0;
    for (; x != 1; count++)
        x = x % 2 ? 3 * x + 1 : x / 2;
    return count;
}

int turns_until_one(const char *s)
{
    int x = (unsigned char)s[0];
    return x > 0 && turns(x + 200) == 52;
}

int turns_by_three(const char *s)
{
    long x = (unsigned char)s[0] + 500;
    int count = 0;
    for (; x > 1; count++)
        x = x % 2 == 0 ? x / 2 : x % 3 == 0 ? x / 3 : 5 * x + 1;
    return count == 19;
}

int long_way_down(const char *s)
{
    int x = (unsigned char)s[0];
    return x > 0 && turns(x + 77030) == 350;
}

int sum_of_digits(const char *s)
{
    int sum = 0, i;
    for (i = 0; s[i] >= '0' && s[i] <= '9'; i++)
        sum += s[i] - '0';
    return i == 3 && sum == 26;
}

int greatest_divisor(const char *s)
{
    unsigned a = (unsigned char)s[0], b = (unsigned char)s[1];
    while (b) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a == 37;
}
