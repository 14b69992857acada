// Buffers that are too small, and numbers that are.
#include "bomb.h"

int copied_to_stack(const char *s)
{
    struct { char name[10]; int is_admin; } user = { .is_admin = 0 };
    strcpy(user.name, s);
    return user.is_admin == 1;
}

int copied_to_heap(const char *s)
{
    char *first = malloc(24), *second = malloc(24);
    strcpy(second, "no");
    strcpy(first, s);
    int hit = strcmp(second, "no") != 0;
    free(first);
    free(second);
    return hit;
}

int one_too_many(const char *s)
{
    struct { char name[8]; char flag; } user = { .flag = 0 };
    if (strlen(s) > 9)
        return 0;
    strcpy(user.name, s);
    return user.flag == 'Y';
}

int sum_wraps(const char *s)
{
    int x = s[0] - '0';
    return x > 0 && 2147483600 + x < 0;
}

int product_wraps(const char *s)
{
    int x = s[0] - '0';
    return x > 0 && 100200300 * x < 0;
}

int cast_loses(const char *s)
{
    unsigned char narrow = 10 * (unsigned char)s[0];
    return narrow == 4 && s[0] > 0;
}
