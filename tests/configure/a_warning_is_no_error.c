// A warning is no error.
// options: -Wall
int main(void)
{
    int unused;
    return 0;
}
