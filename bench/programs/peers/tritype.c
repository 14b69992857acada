// What kind of triangle has sides of these lengths.
int tritype(int a, int b, int c)
{
    if (a <= 0 || b <= 0 || c <= 0)
        return 0;
    if (a >= b + c || b >= a + c || c >= a + b)
        return 0;
    if (a == b && b == c)
        return 3;
    return a == b || b == c || a == c ? 2 : 1;
}
