// A warning is an error.
// options: -Wall -Werror
int main(void)
{
    int unused;
    return 0;
}
