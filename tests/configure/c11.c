// C11.
// options: -std=c11
_Static_assert(_Alignof(long) == 8, "x");
int main(void)
{
    return 0;
}
