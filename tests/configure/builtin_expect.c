// __builtin_expect.
int main(int c, char **v)
{
    (void)v;
    return __builtin_expect(c == 1, 1) ? 0 : 1;
}
