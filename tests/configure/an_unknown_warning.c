// An unknown warning.
// options: -Werror -Wno-such-warning
int main(void)
{
    return 0;
}
