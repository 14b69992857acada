// Floating point.
#include "bomb.h"

int quotient(const char *s)
{
    float x = (s[0] - '0') / 80.0;
    return x != 0.05 && x - 0.05f == 0;
}

int lost_digits(const char *s)
{
    float x = (s[0] - '0') + 0.0000001;
    return x == 6;
}

int from_text(const char *s) { return (float)atof(s) == 8.5f; }

int absorbed(const char *s)
{
    float x = atof(s) / 50000;
    return x > 0 && 2048 + x == 2048;
}

int printed_float(const char *s)
{
    float x = s[0] + 0.5f;
    printf("%f\n", x);
    return x == 88.5f;
}
